"""The networks of `examples/elman.py` as PyTorch's own modules, with the same weights."""

import numpy as np
import torch

MODULES = {"elman": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}
GATES = {"elman": [""], "gru": ["r", "z", "n"], "lstm": ["i", "f", "g", "o"]}  # in the order of PyTorch's rows


def module(model, layers):
    """The module of PyTorch with the weights of `layers`."""
    units, columns = getattr(layers[0], "w" + GATES[model][0]).shape
    dtype = torch.from_numpy(layers[0][0]).dtype
    made = MODULES[model](columns, units, len(layers), dtype=dtype)
    with torch.no_grad():
        for k, layer in enumerate(layers):
            for name, letter in (("weight_ih", "w"), ("weight_hh", "u"), ("bias_ih", "b")):
                stacked = np.concatenate([getattr(layer, letter + gate) for gate in GATES[model]])
                getattr(made, f"{name}_l{k}").copy_(torch.from_numpy(stacked))
            second_bias = getattr(made, f"bias_hh_l{k}")
            second_bias.zero_()
            if model == "gru":
                second_bias[2 * units :] = torch.from_numpy(layer.cn)
    return made


def loss_and_gradients(model, layers, xs, y):
    """The value of the loss, and its gradient in the structure of `layers`."""
    network = module(model, layers)
    outputs, _ = network(torch.from_numpy(xs))
    loss = torch.mean((outputs[-1] - torch.from_numpy(y)) ** 2)
    loss.backward()
    gradients = []
    for k, layer in enumerate(layers):
        found = {}
        for name, letter in (("weight_ih", "w"), ("weight_hh", "u"), ("bias_ih", "b")):
            parts = np.split(getattr(network, f"{name}_l{k}").grad.numpy(), len(GATES[model]))
            found.update({letter + gate: part for gate, part in zip(GATES[model], parts)})
        if model == "gru":
            found["cn"] = np.split(getattr(network, f"bias_hh_l{k}").grad.numpy(), 3)[2]
        gradients.append(type(layer)(**found))
    return loss.item(), gradients
