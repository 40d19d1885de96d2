/* Lines of one kind of words: what comes first is kept while the keys of a line go by, some at a time. */

typedef struct {
    DMLCY_WORD *words; /* a few in order, many in the order of their places */
    int64_t count;
    DMLCY_KEY limit; /* of the last of k words: what is not less does not come first */
    int limited;
} DMLCY_OF_WORDS(dmlcy_line);

static inline int64_t DMLCY_OF_WORDS(dmlcy_next_key)(
    const dmlcy_selection *a, const DMLCY_KEY *keys, int64_t i, int64_t n, DMLCY_KEY limit, uint32_t *hits)
{
    return a->wide ? DMLCY_NAMED(DMLCY_OF_WORDS(dmlcy_next), _wide)(keys, i, n, limit, hits)
                   : DMLCY_OF_WORDS(dmlcy_next)(keys, i, n, limit, hits);
}

/* ---- a few: each goes to its place among those before ---- */

static inline void DMLCY_OF_WORDS(dmlcy_insert)(DMLCY_WORD *words, int64_t at, DMLCY_WORD word)
{
    for (; at > 0 && DMLCY_LESS(word, words[at - 1]); at--)
        words[at] = words[at - 1];
    words[at] = word;
}

static void DMLCY_OF_WORDS(dmlcy_add_few)(
    const dmlcy_selection *a, DMLCY_OF_WORDS(dmlcy_line) *line, const DMLCY_KEY *keys, int64_t n, int64_t first)
{
    DMLCY_WORD *const words = line->words;
    const int64_t last = a->k - 1;
    int64_t i = 0;
    uint32_t hits = 0;
    for (; i < n && line->count <= last; i++)
        DMLCY_OF_WORDS(dmlcy_insert)(words, line->count++, DMLCY_WORD_OF(keys[i], first + i));
    if (i == n)
        return;
    while ((i = DMLCY_OF_WORDS(dmlcy_next_key)(a, keys, i, n, DMLCY_KEY_OF(words[last]), &hits)) < n) {
        /* The last one first: where each element comes before the others, most of a group then do not come first. */
        while (hits) {
            const int bit = dmlcy_last_of(hits);
            const DMLCY_WORD word = DMLCY_WORD_OF(keys[i + bit], first + i + bit);
            hits ^= (uint32_t)1 << bit;
            if (DMLCY_LESS(word, words[last]))
                DMLCY_OF_WORDS(dmlcy_insert)(words, last, word);
        }
        i += DMLCY_HITS;
    }
}

/* ---- many: words wait, and words that do not come first are left out from time to time ---- */

static void DMLCY_OF_WORDS(dmlcy_sink)(DMLCY_WORD *words, int64_t at, int64_t n)
{
    const DMLCY_WORD own = words[at];
    int64_t next;
    for (; (next = 2 * at + 1) < n; at = next) {
        next += next + 1 < n && DMLCY_LESS(words[next], words[next + 1]);
        if (!DMLCY_LESS(own, words[next]))
            break;
        words[at] = words[next];
    }
    words[at] = own;
}

/* Puts words in order in n log n steps, whatever they are. */
static void DMLCY_OF_WORDS(dmlcy_heap_sort)(DMLCY_WORD *words, int64_t n)
{
    int64_t i;
    for (i = n / 2; i-- > 0;)
        DMLCY_OF_WORDS(dmlcy_sink)(words, i, n);
    for (i = n - 1; i > 0; i--) {
        const DMLCY_WORD last = words[i];
        words[i] = words[0];
        words[0] = last;
        DMLCY_OF_WORDS(dmlcy_sink)(words, 0, i);
    }
}

static inline DMLCY_WORD DMLCY_OF_WORDS(dmlcy_middle)(DMLCY_WORD a, DMLCY_WORD b, DMLCY_WORD c)
{
    if (DMLCY_LESS(a, b))
        return DMLCY_LESS(b, c) ? b : DMLCY_LESS(a, c) ? c : a;
    return DMLCY_LESS(a, c) ? a : DMLCY_LESS(b, c) ? c : b;
}

/* The word that k others of n are less than; no two are equal. The words change their order. */
static DMLCY_WORD DMLCY_OF_WORDS(dmlcy_word_at)(DMLCY_WORD *words, int64_t n, int64_t k)
{
    int turns = 8;
    int64_t i;
    for (i = n; i > 0; i /= 2)
        turns += 2;
    for (; n > 2; turns--) {
        const DMLCY_WORD middle = DMLCY_OF_WORDS(dmlcy_middle)(words[n / 4], words[n / 2], words[n / 4 * 3]);
        int64_t less = 0;
        if (turns == 0 || n < 8) {
            DMLCY_OF_WORDS(dmlcy_heap_sort)(words, n);
            return words[k];
        }
        for (i = 0; i < n; i++) {
            const DMLCY_WORD word = words[i];
            words[i] = words[less];
            words[less] = word;
            less += DMLCY_LESS(word, middle);
        }
        if (k < less) {
            n = less;
        } else {
            words += less;
            k -= less;
            n -= less;
        }
    }
    return n == 1 || DMLCY_LESS(words[k], words[1 - k]) == (k == 0) ? words[k] : words[1 - k];
}

/* Keeps the k words that come first, in the order of their places. */
static void DMLCY_OF_WORDS(dmlcy_keep)(const dmlcy_selection *a, DMLCY_OF_WORDS(dmlcy_line) *line, DMLCY_WORD *spare)
{
    DMLCY_WORD *const words = line->words;
    const int64_t n = line->count;
    DMLCY_WORD last;
    int64_t i, kept = 0;
    memcpy(spare, words, (size_t)n * sizeof(DMLCY_WORD));
    last = DMLCY_OF_WORDS(dmlcy_word_at)(spare, n, a->k - 1);
    for (i = 0; i < n; i++) {
        const DMLCY_WORD word = words[i];
        words[kept] = word;
        kept += !DMLCY_LESS(last, word);
    }
    line->count = kept;
    line->limit = DMLCY_KEY_OF(last);
    line->limited = 1;
}

static void DMLCY_OF_WORDS(dmlcy_add_many)(
    const dmlcy_selection *a, DMLCY_OF_WORDS(dmlcy_line) *line, const DMLCY_KEY *keys, int64_t n, int64_t first,
    DMLCY_WORD *spare)
{
    DMLCY_WORD *const words = line->words;
    int64_t i = 0;
    uint32_t hits = 0;
    if (!line->limited) {
        const int64_t free = a->room - line->count, most = n < free ? n : free;
        for (; i < most; i++)
            words[line->count + i] = DMLCY_WORD_OF(keys[i], first + i);
        line->count += most;
        if (i == n)
            return;
        DMLCY_OF_WORDS(dmlcy_keep)(a, line, spare);
    }
    while ((i = DMLCY_OF_WORDS(dmlcy_next_key)(a, keys, i, n, line->limit, &hits)) < n) {
        if (a->room - line->count < DMLCY_HITS)
            DMLCY_OF_WORDS(dmlcy_keep)(a, line, spare);
        for (; hits; hits &= hits - 1) {
            const int64_t at = i + dmlcy_first_of(hits);
            words[line->count++] = DMLCY_WORD_OF(keys[at], first + at);
        }
        i += DMLCY_HITS;
    }
}

/* Puts words with the order of their places in the order of their keys, a byte of these at a time: there or in `spare`. */
static const DMLCY_WORD *DMLCY_OF_WORDS(dmlcy_sorted)(DMLCY_WORD *words, DMLCY_WORD *spare, int64_t n)
{
    enum { BYTES = sizeof(DMLCY_KEY) };
    int64_t counts[BYTES][256];
    const uint64_t sign = (uint64_t)1 << (8 * BYTES - 1);
    int64_t i;
    int byte, digit;
    memset(counts, 0, sizeof counts);
    for (i = 0; i < n; i++) {
        const uint64_t key = (uint64_t)(int64_t)DMLCY_KEY_OF(words[i]) ^ sign;
        for (byte = 0; byte < BYTES; byte++)
            counts[byte][key >> 8 * byte & 255]++;
    }
    for (byte = 0; byte < BYTES; byte++) {
        DMLCY_WORD *const other = spare;
        int64_t before = 0;
        if (counts[byte][((uint64_t)(int64_t)DMLCY_KEY_OF(words[0]) ^ sign) >> 8 * byte & 255] == n)
            continue;
        for (digit = 0; digit < 256; digit++) {
            const int64_t count = counts[byte][digit];
            counts[byte][digit] = before;
            before += count;
        }
        for (i = 0; i < n; i++)
            other[counts[byte][((uint64_t)(int64_t)DMLCY_KEY_OF(words[i]) ^ sign) >> 8 * byte & 255]++] = words[i];
        spare = words;
        words = other;
    }
    return words;
}

/* ---- lines ---- */

/* Bytes that dmlcy_select needs for so many lines side by side. */
static int64_t DMLCY_OF_WORDS(dmlcy_select_bytes)(const dmlcy_selection *a, int lines)
{
    return (lines + 1) * a->room * (int64_t)sizeof(DMLCY_WORD) + lines * DMLCY_PITCH * (int64_t)sizeof(DMLCY_KEY);
}

/* The keys of some elements of the lines side by side, those of each line together. */
static void DMLCY_OF_WORDS(dmlcy_keys_beside)(
    const dmlcy_selection *a, const dmlcy_lines *lines, DMLCY_KEY *keys, int64_t first, int64_t n)
{
    DMLCY_KEY row[DMLCY_BESIDE];
    int64_t i;
    int w;
    for (i = 0; i < n; i++) {
        a->keys(lines->from + (first + i) * a->step, lines->apart, row, lines->count, a->flip);
        for (w = 0; w < lines->count; w++)
            keys[w * DMLCY_PITCH + i] = row[w];
    }
}

static void DMLCY_OF_WORDS(dmlcy_select)(const dmlcy_selection *a, const dmlcy_lines *lines, char *memory)
{
    DMLCY_OF_WORDS(dmlcy_line) each[DMLCY_BESIDE];
    DMLCY_WORD *const spare = (DMLCY_WORD *)memory;
    DMLCY_KEY *const keys = (DMLCY_KEY *)(memory + (lines->count + 1) * a->room * (int64_t)sizeof(DMLCY_WORD));
    const int few = a->k <= DMLCY_FEW;
    int64_t first, i;
    int w, pad;
    for (w = 0; w < lines->count; w++) {
        each[w].words = spare + (w + 1) * a->room;
        each[w].count = each[w].limited = 0;
    }
    for (first = 0; first < a->n; first += DMLCY_CHUNK) {
        const int64_t n = a->n - first < DMLCY_CHUNK ? a->n - first : DMLCY_CHUNK;
        if (lines->count == 1)
            a->keys(lines->from + first * a->step, a->step, keys, n, a->flip);
        else
            DMLCY_OF_WORDS(dmlcy_keys_beside)(a, lines, keys, first, n);
        for (w = 0; w < lines->count; w++) {
            DMLCY_KEY *const own = keys + w * DMLCY_PITCH;
            for (pad = 0; pad < DMLCY_HITS; pad++)
                own[n + pad] = DMLCY_GREATEST;
            if (few)
                DMLCY_OF_WORDS(dmlcy_add_few)(a, &each[w], own, n, first);
            else
                DMLCY_OF_WORDS(dmlcy_add_many)(a, &each[w], own, n, first, spare);
        }
    }
    for (w = 0; w < lines->count; w++) {
        const char *const line = lines->from + w * lines->apart;
        char *const values = lines->values + w * lines->values_apart;
        char *const places = lines->places + w * lines->places_apart;
        const DMLCY_WORD *words = each[w].words;
        if (!few) {
            if (each[w].count >= 2 * a->k)
                DMLCY_OF_WORDS(dmlcy_keep)(a, &each[w], spare);
            words = DMLCY_OF_WORDS(dmlcy_sorted)(each[w].words, spare, each[w].count);
        }
        for (i = 0; i < a->k; i++)
            dmlcy_put_chosen(a, line, values + i * a->value_step, places + i * a->place_step, DMLCY_PLACE_OF(words[i]));
    }
}
