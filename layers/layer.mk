# What the layers have in common: `sam build` calls `build-<its name in the template>` of the Makefile in a layer's folder, which includes
# this one. The packages that requirements.txt pins are installed, then the layer's own Makefile takes out what is of no use there, then
# $(compiled) does the rest.
#
# Everything is compiled beforehand, with byte code that is valid whatever a file's date: packaging sets dates to 1980 and
# /opt cannot be written, so without it every cold start would compile a thousand modules. The byte code names files by their
# place in Lambda, so that the same sources give the same layer wherever they are built.
#
#   sam build                                                                      for arm64, the template's default
#   ARCHITECTURE=x86_64 sam build --parameter-overrides Architecture=x86_64

PYTHON       ?= python3.13
ARCHITECTURE ?= arm64

machine := $(if $(filter arm64,$(ARCHITECTURE)),aarch64,$(ARCHITECTURE))
source  := $(dir $(abspath $(firstword $(MAKEFILE_LIST))))
target  := $(ARTIFACTS_DIR)/python

requirements := $(source)requirements.txt

.PHONY: installed
installed:
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --requirement "$(requirements)" $(more_requirements) \
	  --target "$(target)" --no-compile --no-deps --only-binary=:all: --implementation cp --python-version 3.13 \
	  --platform manylinux2014_$(machine) --platform manylinux_2_17_$(machine) --platform manylinux_2_28_$(machine)

# Metadata stays: some packages read their own version and entry points, and the tests whether a wheel is for one processor.
define compiled
	rm -rf "$(target)/bin"
	find "$(target)" -type d \( -name __pycache__ -o -name tests -o -name .agents \) -prune -exec rm -rf {} +
	find "$(target)" -type f \( -name '*.pyi' -o -name py.typed -o -name '*.a' \
	  -o -path '*.dist-info/RECORD' -o -path '*.dist-info/INSTALLER' -o -path '*.dist-info/REQUESTED' \) -delete
	$(PYTHON) -m compileall -q -j 0 --invalidation-mode unchecked-hash -s "$(target)" -p /opt/python "$(target)"
endef
