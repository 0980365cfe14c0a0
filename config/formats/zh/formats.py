"""The same formats for Traditional and Simplified Chinese."""

from config.formats.en.formats import DATE_FORMAT as DATE_FORMAT
from config.formats.en.formats import DATETIME_FORMAT as DATETIME_FORMAT
from config.formats.en.formats import SHORT_DATE_FORMAT as SHORT_DATE_FORMAT
from config.formats.en.formats import SHORT_DATETIME_FORMAT as SHORT_DATETIME_FORMAT
from config.formats.en.formats import TIME_FORMAT as TIME_FORMAT
