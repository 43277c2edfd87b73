"""The symmetric contrastive loss of pairs of images and texts (InfoNCE both ways), with a learnt temperature."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w_image", "w_text", "log_temperature")


def inputs(size, dtype):
    n, a, b, width = {"small": (4, 3, 5, 3), "full": (256, 128, 96, 64)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, a, width, scale=a**-0.5),
        normal(rng, dtype, b, width, scale=b**-0.5),
        dtype(1.0),
        normal(rng, dtype, n, a),
        normal(rng, dtype, n, b),
    )


def log_softmax(x, axis):
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def primal(w_image, w_text, log_temperature, images, texts):
    left, right = images @ w_image, texts @ w_text
    left = left / np.linalg.norm(left, axis=1, keepdims=True)
    right = right / np.linalg.norm(right, axis=1, keepdims=True)
    logits = np.exp(log_temperature) * left @ right.T
    return -0.5 * (np.mean(np.diag(log_softmax(logits, 1))) + np.mean(np.diag(log_softmax(logits, 0))))


def by_hand(w_image, w_text, log_temperature, images, texts):
    n = len(images)
    left, right = images @ w_image, texts @ w_text
    norm_left = np.linalg.norm(left, axis=1, keepdims=True)
    norm_right = np.linalg.norm(right, axis=1, keepdims=True)
    left /= norm_left
    right /= norm_right
    temperature = np.exp(log_temperature)
    logits = left @ right.T
    logits *= temperature
    d_logits = np.exp(logits - logits.max(axis=1, keepdims=True))
    d_logits /= d_logits.sum(axis=1, keepdims=True)
    columns = np.exp(logits - logits.max(axis=0))
    columns /= columns.sum(axis=0)
    d_logits += columns
    d_logits *= 0.5 / n
    d_logits.flat[:: n + 1] -= 1 / n
    d_temperature = np.vdot(d_logits, logits)
    d_logits *= temperature
    d_left, d_right = d_logits @ right, d_logits.T @ left
    d_left -= left * np.sum(left * d_left, axis=1, keepdims=True)
    d_left /= norm_left
    d_right -= right * np.sum(right * d_right, axis=1, keepdims=True)
    d_right /= norm_right
    return images.T @ d_left, texts.T @ d_right, d_temperature
