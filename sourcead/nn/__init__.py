"""Neural networks as plain functions: layers, losses, initialisers, optimisers, training and data.

The compiler differentiates them like functions of a user. Convolutions, pools and some activations have derivative rules, each beside its
function. Importing a module of this folder changes no setting of the process.
"""
