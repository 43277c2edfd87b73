"""Neural networks as plain functions: layers, losses, initialisers, optimisers, training, data.

They are differentiated like any function of a user; convolutions, pools and some activations have rules, which stand beside them.
"""
