"""Public holidays, as the `holidays` library knows them; the one module that asks it."""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache

import holidays

_LANGUAGES = {"en": ("en_US", "en_GB"), "zh-hans": ("zh_CN", "en_US")}


def countries() -> Mapping[str, Sequence[str]]:
    """The countries that are known by their codes of two letters, each with its subdivisions' codes."""
    return _supported()


def of(country: str, subdivision: str, year: int) -> frozenset[date]:
    """The public holidays of a year; none where the library knows none for it."""
    return frozenset(_named(country, subdivision, year, None))


def named(country: str, subdivision: str, year: int, *, language: str) -> Mapping[date, str]:
    """The same with their names, in the pages' `language` where the library speaks it, else in the country's own."""
    spoken = _languages().get(country, ())
    wanted = next((each for each in _LANGUAGES.get(language, ()) if each in spoken), None)
    return _named(country, subdivision, year, wanted)


@lru_cache(maxsize=512)
def _named(country: str, subdivision: str, year: int, language: str | None) -> Mapping[date, str]:
    found = holidays.country_holidays(country, subdiv=subdivision or None, years=year, language=language)
    return dict(sorted(found.items()))


@lru_cache(maxsize=1)
def _supported() -> Mapping[str, Sequence[str]]:
    return holidays.list_supported_countries(include_aliases=False)


@lru_cache(maxsize=1)
def _languages() -> Mapping[str, Sequence[str]]:
    return holidays.list_localized_countries(include_aliases=False)
