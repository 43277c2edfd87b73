"""Layers in the manner of NPBench (Ziogas et al., 2021): convolutions, pooling, normalisation."""

import numpy as np

from tests.programs import program
from tests.programs.polybench import normal


@program(args=normal((2, 3, 2, 2)))
def softmax_4d(x):
    tmp_max = np.max(x, axis=-1, keepdims=True)
    tmp_out = np.exp(x - tmp_max)
    tmp_sum = np.sum(tmp_out, axis=-1, keepdims=True)
    return np.sum((tmp_out / tmp_sum) ** 2)


@program(args=normal((3, 4)))
def softmax_of_elements_in_place(x):
    for i in range(x.shape[0]):
        largest = x[i, 0]
        for j in range(1, x.shape[1]):
            if x[i, j] > largest:
                largest = x[i, j]
        total = 0.0
        for j in range(x.shape[1]):
            x[i, j] = np.exp(x[i, j] - largest)
            total += x[i, j]
        for j in range(x.shape[1]):
            x[i, j] /= total
    return np.sum(x * x)


def relu(x):
    return np.maximum(x, 0)


def conv2d(image, weights):
    k = weights.shape[0]
    n, h, w, _ = image.shape
    h_out = h - k + 1
    w_out = w - k + 1
    output = np.empty((n, h_out, w_out, weights.shape[3]), dtype=image.dtype)
    for i in range(h_out):
        for j in range(w_out):
            output[:, i, j, :] = np.sum(
                image[:, i : i + k, j : j + k, :, np.newaxis] * weights[np.newaxis, :, :, :], axis=(1, 2, 3)
            )
    return output


def maxpool2d(x):
    output = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            output[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return output


@program(args=normal((1, 10, 10, 1), (3, 3, 1, 2), (2,), (3, 3, 2, 2), (2,), (2, 3), (3,)), wrt=(0, 1, 2, 3, 4, 5, 6))
def lenet(x, conv1, conv1_bias, conv2, conv2_bias, fc1, fc1_bias):
    x = relu(conv2d(x, conv1) + conv1_bias)
    x = maxpool2d(x)
    x = relu(conv2d(x, conv2) + conv2_bias)
    x = maxpool2d(x)
    x = np.reshape(x, (x.shape[0], -1))
    x = np.tanh(x @ fc1 + fc1_bias)
    return np.sum(x * x)


@program(args=normal((1, 5, 4, 2), (2, 2, 2, 3), (3,)), wrt=(0, 1, 2))
def conv2d_of_elements(image, weights, bias):
    k = weights.shape[0]
    n, h, w, c_in = image.shape
    c_out = weights.shape[3]
    output = np.zeros((n, h - k + 1, w - k + 1, c_out))
    for b in range(n):
        for i in range(h - k + 1):
            for j in range(w - k + 1):
                for o in range(c_out):
                    output[b, i, j, o] = bias[o]
                    for di in range(k):
                        for dj in range(k):
                            for c in range(c_in):
                                output[b, i, j, o] += image[b, i + di, j + dj, c] * weights[di, dj, c, o]
    return np.sum(np.tanh(output))


def batchnorm2d(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


@program(args=normal((3, 4, 4, 2), (1, 1, 2, 2), (3, 3, 2, 2), (1, 1, 2, 2)), wrt=(0, 1, 2, 3))
def resnet_block(x, conv1, conv2, conv3):
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, conv1.shape[3]))
    padded[:, 1:-1, 1:-1, :] = conv2d(x, conv1)
    h = relu(batchnorm2d(padded))
    h = conv2d(h, conv2)
    h = relu(batchnorm2d(h))
    h = conv2d(h, conv3)
    h = batchnorm2d(h)
    return np.sum(np.tanh(relu(h + x)))


@program(args=normal((3, 4), (4, 5), (5,), (5, 3), (3,)), wrt=(1, 2, 3, 4))
def mlp_of_two_layers(x, w1, b1, w2, b2):
    def softmax(x):
        tmp_out = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return tmp_out / np.sum(tmp_out, axis=-1, keepdims=True)

    x = relu(x @ w1 + b1)
    x = softmax(x @ w2 + b2)
    return -np.sum(np.log(x[:, 0]))
