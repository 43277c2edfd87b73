"""Elements, and what neutrons and X-rays see of them."""

import periodictable
from periodictable import nsf, xsf

from tests.packages.case import blend, case

REQUIREMENTS = ("periodictable==2.1.0",)
FIELD = "physics"

CASES = [
    case("periodictable.neutron_sld", lambda d, w: blend(*periodictable.neutron_sld("SiO2", density=d, wavelength=w)), 2.2, 4.75),
    case("periodictable.neutron_scattering",
         lambda d: blend(*periodictable.neutron_scattering("SiO2", density=d, wavelength=4.75)[0]), 2.2),
    case("periodictable.xray_sld", lambda d: blend(*periodictable.xray_sld("SiO2", density=d, energy=8.0)), 2.2),
    case("periodictable.nsf.neutron_wavelength", lambda e: nsf.neutron_wavelength(e), 25.0),
    case("periodictable.nsf.neutron_energy", lambda w: nsf.neutron_energy(w), 1.8),
    case("periodictable.xsf.xray_wavelength", lambda e: xsf.xray_wavelength(e), 8.0),
    case("periodictable.xsf.Xray.f0", lambda q: periodictable.Si.xray.f0(q), 1.5),
    case("periodictable.nsf.D2O_sld", lambda v: nsf.D2O_sld("C3H4H[1]NO@1.29n", volume_fraction=v, D2O_fraction=0.3)[0], 0.6),
]
