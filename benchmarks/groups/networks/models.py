"""The networks, in the terms of ONNX; batch normalizations are part of the convolutions before them."""

from __future__ import annotations

from benchmarks.groups.networks.net import Net


def squeezenet(net: Net) -> str:
    """SqueezeNet 1.1, of 224 by 224."""
    x = net.relu(net.conv(net.input("image", 1, 3, 224, 224), 3, 64, 3, 2))
    channels = 64
    for squeezed, expanded, pooled in (
        (16, 64, True), (16, 64, False), (32, 128, True), (32, 128, False),
        (48, 192, True), (48, 192, False), (64, 256, False), (64, 256, False),
    ):  # fmt: skip
        if pooled:
            x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
        x = net.relu(net.conv(x, channels, squeezed, 1))
        parts = [net.relu(net.conv(x, squeezed, expanded, window)) for window in (1, 3)]
        x = net.node("Concat", *parts, axis=1)
        channels = 2 * expanded
    x = net.relu(net.conv(x, channels, 1000, 1))
    return net.node("Flatten", net.node("GlobalAveragePool", x))


def resnet18(net: Net) -> str:
    """ResNet-18, of 224 by 224."""
    x = net.relu(net.conv(net.input("image", 1, 3, 224, 224), 3, 64, 7, 2))
    x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for filters in (64, 128, 256, 512):
        for block in range(2):
            stride = 2 if block == 0 and filters != channels else 1
            y = net.relu(net.conv(x, channels, filters, 3, stride))
            y = net.conv(y, filters, filters, 3)
            if channels != filters:
                x = net.conv(x, channels, filters, 1, stride)
            x, channels = net.relu(net.node("Add", y, x)), filters
    return classified(net, x, 512)


def classified(net: Net, x: str, channels: int) -> str:
    """A number for each of 1,000 classes."""
    pooled = net.node("Flatten", net.node("GlobalAveragePool", x))
    return net.node("Gemm", pooled, net.weight(1000, channels), net.weight(1000, inputs=100), transB=1)


def mobilenet_v2(net: Net) -> str:
    """MobileNetV2, of 224 by 224."""
    low, high = net.numbers(0.0), net.numbers(6.0)

    def relu6(x: str) -> str:
        return net.node("Clip", x, low, high)

    x = relu6(net.conv(net.input("image", 1, 3, 224, 224), 3, 32, 3, 2))
    channels = 32
    for factor, filters, count, first_stride in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
    ):  # fmt: skip
        for number in range(count):
            stride, wide = first_stride if number == 0 else 1, channels * factor
            y = relu6(net.conv(x, channels, wide, 1)) if factor > 1 else x
            y = relu6(net.conv(y, wide, wide, 3, stride, groups=wide))
            y = net.conv(y, wide, filters, 1)
            x = net.node("Add", x, y) if stride == 1 and channels == filters else y
            channels = filters
    return classified(net, relu6(net.conv(x, channels, 1280, 1)), 1280)


def super_resolution(net: Net) -> str:
    """A grey image of 224 by 224 becomes one of 672 by 672."""
    x = net.input("image", 1, 1, 224, 224)
    for channels, filters, window in ((1, 64, 5), (64, 64, 3), (64, 32, 3)):
        x = net.relu(net.conv(x, channels, filters, window))
    return net.node("DepthToSpace", net.conv(x, 32, 9, 3), blocksize=3, mode="CRD")


def unet(net: Net) -> str:
    """A U-Net of four levels, of 256 by 256, with transposed convolutions."""
    x, channels = net.input("image", 1, 3, 256, 256), 3
    levels = []
    for filters in (32, 64, 128, 256):
        x = net.relu(net.conv(net.relu(net.conv(x, channels, filters, 3)), filters, filters, 3))
        channels = filters
        if filters < 256:
            levels.append((x, filters))
            x = net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    for beside, filters in reversed(levels):
        weight = net.weight(channels, filters, 2, 2, inputs=channels)
        up = net.node("ConvTranspose", x, weight, net.weight(filters, inputs=100), kernel_shape=[2, 2], strides=[2, 2])
        x = net.node("Concat", beside, up, axis=1)
        x = net.relu(net.conv(net.relu(net.conv(x, 2 * filters, filters, 3)), filters, filters, 3))
        channels = filters
    return net.node("Sigmoid", net.conv(x, channels, 1, 1))


def style_transfer(net: Net) -> str:
    """Fast neural style of 224 by 224: instance normalizations, residual blocks, and two resizings by two."""

    def block(x: str, channels: int, filters: int, window: int, stride: int = 1) -> str:
        edge = window // 2
        pads = net.numbers(0, 0, edge, edge, 0, 0, edge, edge)
        padded = net.node("Pad", x, pads, mode="reflect")
        weight = net.weight(filters, channels, window, window)
        given = {"kernel_shape": [window] * 2, "strides": [stride] * 2}
        y = net.node("Conv", padded, weight, net.weight(filters, inputs=100), **given)
        scale, bias = net.weight(filters, inputs=1), net.weight(filters, inputs=1)
        return net.node("InstanceNormalization", y, scale, bias, epsilon=1e-5)

    x = net.relu(block(net.input("image", 1, 3, 224, 224), 3, 32, 9))
    x = net.relu(block(x, 32, 64, 3, 2))
    x = net.relu(block(x, 64, 128, 3, 2))
    for _ in range(5):
        x = net.node("Add", x, block(net.relu(block(x, 128, 128, 3)), 128, 128, 3))
    scales = net.numbers(1.0, 1.0, 2.0, 2.0)
    for channels, filters in ((128, 64), (64, 32)):
        given = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        x = net.relu(block(net.node("Resize", x, "", scales, **given), channels, filters, 3))
    return block(x, 32, 3, 9)


def transformer_encoder(net: Net) -> str:
    """Four layers of width 256 with 8 heads, of 128 tokens."""
    width, heads, tokens = 256, 8, 128
    apart = net.numbers(1, tokens, heads, width // heads)
    together = net.numbers(1, tokens, width)
    scale = net.numbers((width // heads) ** -0.5)

    def split(x: str, axes: list[int]) -> str:
        return net.node("Transpose", net.node("Reshape", net.linear(x, width, width), apart), perm=axes)

    def normalized(x: str) -> str:
        return net.node("LayerNormalization", x, net.weight(width, inputs=1), net.weight(width, inputs=100), axis=-1)

    x = net.input("tokens", 1, tokens, width)
    for _ in range(4):
        query, key, value = split(x, [0, 2, 1, 3]), split(x, [0, 2, 3, 1]), split(x, [0, 2, 1, 3])
        scores = net.node("Mul", net.node("MatMul", query, key), scale)
        y = net.node("MatMul", net.node("Softmax", scores, axis=-1), value)
        y = net.node("Reshape", net.node("Transpose", y, perm=[0, 2, 1, 3]), together)
        x = normalized(net.node("Add", x, net.linear(y, width, width)))
        y = net.linear(net.node("Gelu", net.linear(x, width, 4 * width), domain="com.microsoft"), 4 * width, width)
        x = normalized(net.node("Add", x, y))
    return x


def lstm_tagger(net: Net) -> str:
    """A sentence of 64 words: an embedding of 128, an LSTM of 256 in both directions, a number for each of 32 tags."""
    words, width, hidden, tags = 64, 128, 256, 32
    embedded = net.node("Gather", net.weight(10_000, width, inputs=1), net.input("words", words, 1, below=10_000))
    weight, recurrence = (net.weight(2, 4 * hidden, size, inputs=size) for size in (width, hidden))
    bias = net.weight(2, 8 * hidden, inputs=100)
    y = net.node("LSTM", embedded, weight, recurrence, bias, hidden_size=hidden, direction="bidirectional")
    y = net.node("Reshape", net.node("Transpose", y, perm=[0, 2, 1, 3]), net.numbers(words, 1, 2 * hidden))
    return net.node("LogSoftmax", net.linear(y, 2 * hidden, tags), axis=-1)


def tanh_chain(net: Net) -> str:
    """10,000 tanh of 8 elements in a row: what a node costs."""
    x = net.input("x", 1, 1, 1, 8)
    for _ in range(10_000):
        x = net.node("Tanh", x)
    return x
