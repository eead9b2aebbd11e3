"""The errors by which compressed files and archives turn out to be damaged."""

import lzma
import zipfile
import zlib

# RuntimeError: a zip file that is encrypted or of an unknown compression. EOFError: a file that is cut.
DAMAGED = (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)
