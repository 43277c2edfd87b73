"""The recurrent network of `examples/mnist_rnn.py` in eager PyTorch, as its users write it."""

import numpy as np
import torch


def loss(wx, wh, bh, wo, bo, xs, labels):
    """The mean cross-entropy of a batch; `xs` has shape (steps, batch, pixels)."""
    h = torch.zeros(xs.shape[1], bh.shape[0], dtype=xs.dtype)
    for x in xs:
        h = torch.tanh(x @ wx + h @ wh + bh)
    return torch.nn.functional.cross_entropy(h @ wo + bo, labels)


def loss_and_gradients(*arguments):
    """NumPy arrays in, the loss and the five gradients out."""
    *parameters, xs, labels = (torch.tensor(np.ascontiguousarray(a)) for a in arguments)
    for parameter in parameters:
        parameter.requires_grad_()
    value = loss(*parameters, xs, labels)
    value.backward()
    return value.item(), tuple(parameter.grad.numpy() for parameter in parameters)


def epoch(data, parameters, rate, batch, steps):
    """A function that trains for one epoch with SGD."""
    images = torch.from_numpy(data.x_train).reshape(len(data.x_train), steps, -1)
    labels = torch.from_numpy(data.y_train)
    parameters = [torch.tensor(p, requires_grad=True) for p in parameters]
    optimizer = torch.optim.SGD(parameters, lr=rate)

    def run():
        for rows in torch.randperm(len(images)).split(batch):
            optimizer.zero_grad()
            value = loss(*parameters, images[rows].transpose(0, 1), labels[rows])
            value.backward()
            optimizer.step()

    return run
