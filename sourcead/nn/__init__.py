"""Neural networks as plain functions: data, initialisers and optimisers. Nothing here is special to the compiler."""
