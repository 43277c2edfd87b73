"""The Elman network of `examples/elman.py` in PyTorch: its own module, and eager loops as its users write them."""

import torch


def module(layers, xs, y):
    """A function that runs `torch.nn.RNN` forward and backward once; returns the loss and the gradients."""
    from tests.benchmarks.torch_networks import module

    network = module("elman", layers)
    parameters = [p for name, p in network.named_parameters() if not name.startswith("bias_hh")]
    xs, y = torch.from_numpy(xs), torch.from_numpy(y)

    def run():
        network.zero_grad()
        outputs, _ = network(xs)
        value = torch.mean((outputs[-1] - y) ** 2)
        value.backward()
        return value.item(), [p.grad for p in parameters]

    return run


def loss(layers, xs, y):
    """Loops over time and layers."""
    hs = [torch.zeros(xs.shape[1], len(b), dtype=xs.dtype) for _, _, b in layers]
    for x in xs:
        for k, (w, u, b) in enumerate(layers):
            x = hs[k] = torch.tanh(x @ w.T + hs[k] @ u.T + b)
    return torch.mean((hs[-1] - y) ** 2)


def loops(layers, xs, y):
    """A function that runs loops over time and layers forward and backward once; returns the loss and the gradients."""
    layers = [[torch.tensor(a, requires_grad=True) for a in layer] for layer in layers]
    parameters = [a for layer in layers for a in layer]
    xs, y = torch.from_numpy(xs), torch.from_numpy(y)

    def run():
        for parameter in parameters:
            parameter.grad = None
        value = loss(layers, xs, y)
        value.backward()
        return value.item(), [p.grad for p in parameters]

    return run
