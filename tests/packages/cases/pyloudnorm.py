"""Loudness of sound."""

import numpy as np
import pyloudnorm as pyln

from tests.packages.case import blend, case

REQUIREMENTS = ("pyloudnorm==0.2.0",)
FIELD = "acoustics"
SOUND = list(np.sin(0.7 * np.arange(24)) * (1.2 + np.cos(0.2 * np.arange(24))))

CASES = [
    case("pyloudnorm.Meter.integrated_loudness", lambda x: pyln.Meter(20, block_size=0.4).integrated_loudness(x), SOUND),
    case("pyloudnorm.normalize.peak", lambda x: blend(pyln.normalize.peak(x, -1.0)), SOUND),
    case("pyloudnorm.normalize.loudness", lambda x, l: blend(pyln.normalize.loudness(x, l, -12.0)), SOUND, -20.0),
    case("pyloudnorm.IIRfilter", lambda g, fc: blend(pyln.IIRfilter(g, 0.7, fc, 48000.0, "high_shelf").b), 4.0, 1500.0),
    case("pyloudnorm.IIRfilter.apply_filter",
         lambda x, q: blend(pyln.IIRfilter(4.0, q, 5.0, 48.0, "high_pass").apply_filter(x)), SOUND, 0.7),
]
