// Reads images of descs on standard input, and writes each desc as JSON, with a NUL behind it.
//
// An image is a number of objects, of which the first is a DML_OPERATOR_DESC: the size of an object, its bytes, and the
// pointers in it, each with its offset and the number of the object that it points to. All numbers have 32 bits.
#include <DirectML.h>

#include "dmlcy_dump.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

static std::uint32_t number() {
    std::uint32_t value = 0;
    return std::fread(&value, sizeof value, 1, stdin) == 1 ? value : 0;
}

int main() {
    for (std::uint32_t count = number(); count != 0; count = number()) {
        // Each object has its own memory, so that the sanitizer sees what is read behind its end.
        std::vector<std::unique_ptr<char, decltype(&std::free)>> objects;
        struct Pointer { std::uint32_t from, offset, to; };
        std::vector<Pointer> pointers;
        for (std::uint32_t place = 0; place < count; ++place) {
            const std::uint32_t size = number();
            objects.emplace_back(static_cast<char*>(std::malloc(size)), &std::free);
            if (size != 0 && std::fread(objects.back().get(), size, 1, stdin) != 1) return 1;
            for (std::uint32_t left = number(); left != 0; --left) {
                const std::uint32_t offset = number();
                pointers.push_back({place, offset, number()});
            }
        }
        for (const Pointer& one : pointers) {
            const char* to = objects[one.to].get();
            std::memcpy(objects[one.from].get() + one.offset, &to, sizeof to);
        }
        const std::string text = dmlcy::json(*reinterpret_cast<const DML_OPERATOR_DESC*>(objects[0].get()));
        std::fwrite(text.c_str(), 1, text.size() + 1, stdout);
    }
}
