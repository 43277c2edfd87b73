"""The networks of `examples/mnist_*.py` in eager PyTorch, as its users write them; losses of a list of parameters and a batch."""

import torch
from torch.nn import functional as F


def cnn(p, images, labels):
    w1, b1, w2, b2, w3, b3, w4, b4 = p
    h = F.max_pool2d(F.relu(F.conv2d(images, w1, b1)), 2)
    h = F.max_pool2d(F.relu(F.conv2d(h, w2, b2)), 2)
    h = F.relu(h.flatten(1) @ w3 + b3)
    return F.cross_entropy(h @ w4 + b4, labels)


def mlp(p, images, labels):
    w1, b1, w2, b2 = p
    return F.cross_entropy(F.relu(images @ w1 + b1) @ w2 + b2, labels)


def autoencoder(p, images):
    we1, b1, we2, b2, wd, bd = p
    code = torch.sigmoid(torch.sigmoid(images @ we1 + b1) @ we2 + b2)
    return ((torch.sigmoid(code @ wd + bd) - images) ** 2).sum(1).mean()


def lstm(p, xs, labels):
    w, u, b, wo, bo = p
    h = c = torch.zeros(xs.shape[1], u.shape[0], dtype=xs.dtype)
    for x in xs:
        i, f, o, g = (x @ w + h @ u + b).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return F.cross_entropy(h @ wo + bo, labels)


def gru(p, xs, labels):
    w, u, b, bn, wo, bo = p
    h = torch.zeros(xs.shape[1], u.shape[0], dtype=xs.dtype)
    for x in xs:
        rz, zz, nz = (x @ w + b).chunk(3, 1)
        rs, zs, ns = (h @ u).chunk(3, 1)
        r, z = torch.sigmoid(rz + rs), torch.sigmoid(zz + zs)
        n = torch.tanh(nz + r * (ns + bn))
        h = n + z * (h - n)
    return F.cross_entropy(h @ wo + bo, labels)


LOSSES = {"cnn": cnn, "mlp": mlp, "autoencoder": autoencoder, "lstm": lstm, "gru": gru}


class Fused(torch.nn.Module):
    """`nn.LSTM` or `nn.GRU` with a dense layer on its last output."""

    def __init__(self, name):
        super().__init__()
        self.layer = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[name](28, 64)
        self.out = torch.nn.Linear(64, 10)

    def forward(self, xs, labels):
        return F.cross_entropy(self.out(self.layer(xs)[0][-1]), labels)


def loss_and_gradients(name, parameters, *batch):
    """NumPy arrays in, the loss and the gradients out."""
    theirs = [torch.tensor(p, requires_grad=True) for p in parameters]
    value = LOSSES[name](theirs, *(torch.tensor(a) for a in batch))
    value.backward()
    return value.item(), [p.grad.numpy() for p in theirs]


def epoch(name, arrays, parameters, order, prepare, rate, batch, fused=False):
    """A function that trains for one epoch with Adam; `order()` gives the rows of an epoch, and the parameters it trains."""
    tensors = [torch.from_numpy(a) for a in arrays]
    if fused:
        module = Fused(name)
        theirs = list(module.parameters())
        loss = module
    else:
        theirs = [torch.tensor(p, requires_grad=True) for p in parameters]

        def loss(*rows):
            return LOSSES[name](theirs, *rows)

    optimizer = torch.optim.Adam(theirs, lr=rate)

    def run():
        for rows in torch.from_numpy(order()).split(batch):
            images, *labels = (t[rows] for t in tensors)
            optimizer.zero_grad()
            value = loss(prepare(images), *labels)
            value.backward()
            optimizer.step()

    return run, theirs
