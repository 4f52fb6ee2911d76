"""Compiled functions as Numba's libraries of code, whose machine code is made when somebody asks for an address.

Numba gives each function machine code before it compiles the callers, into whose modules the function is then linked, optimised and made machine
code again. Of a thousand functions a hundred are called from Python: the machine code of the others would never be run, and is not made. They are
kept on disk as bitcode, which their callers take in.

A loop over `prange` passes through three more libraries, each of which holds the whole body of the loop. They are not optimised:
what takes them in is. (To leave all optimisation to the functions that Python calls saves more time, but their code becomes slower.)
"""

import contextlib
from collections.abc import Generator
from typing import Any

import llvmlite.binding as llvm
from numba.core import compiler
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment

_STAGES = ("__numba_parfor_gufunc", "parallelgufuncwrapper", "<numba.np.ufunc.wrappers._GufuncWrapper")
"""How the names begin of what a loop over `prange` passes through."""
BITCODE = "bitcode alone"
"""The kind under which code without machine code is kept."""
ENVIRONMENT = "_ZN08NumbaEnv"


class LateLibrary(JITCodeLibrary):
    """Bitcode, linked and optimised, that becomes machine code when an address in it is asked for."""

    _has_machine_code = False

    @property
    def codegen(self) -> Any:
        """What made this library; without machine code, it has no places for environments."""
        return self._codegen if self._has_machine_code else _NoEnvironments(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function, 0 where there is none of that name."""
        self._ensure_finalized()
        if not self._has_machine_code and any(each.name == name for each in self.get_defined_functions()):
            self._make_machine_code()
        return super().get_pointer_to_function(name)

    def serialize_using_object_code(self) -> Any:
        """What is kept on disk."""
        self._ensure_finalized()
        if self._has_machine_code:
            return super().serialize_using_object_code()
        return self.name, BITCODE, (b"", self._get_module_for_linking().as_bitcode())

    def _optimize_final_module(self) -> None:
        if not self.name.startswith(_STAGES):
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self._object_caching_enabled and self._compiled_object:  # it comes from disk
            self._make_machine_code()
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def _make_machine_code(self) -> None:
        self._has_machine_code = True
        super()._finalize_final_module()
        codegen: Any = self._codegen
        for each in self._final_module.global_variables:
            known = lookup_environment(each.name) if each.name.startswith(ENVIRONMENT) else None
            if known is not None:
                codegen.set_env(each.name, known)


class _NoEnvironments:
    """A code generator, to a library without machine code."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, env_name: str, env: Any) -> None:
        """Nothing: there is no place for it."""


@contextlib.contextmanager
def late(codegen: Any) -> Generator[None]:
    """Within this context libraries are made so, for one thread at a time: the code generator is shared with whatever else Numba compiles."""
    with global_compiler_lock:
        before = codegen._library_class
        codegen._library_class = LateLibrary
        try:
            yield
        finally:
            codegen._library_class = before


class _Flags(compiler.Flags):
    """Numba's options of a compilation, told apart fast.

    They are part of the key under which each use of an operator is looked up, and Numba builds two dictionaries of all options to compare two. It
    hashes the names of the options alone, which all have: if it ever hashes their values, a key is not found, and something is compiled twice.
    """

    __slots__ = ()
    _hash = hash(compiler.Flags())

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, _Flags) and self._values == other._values:
            return True
        return super().__eq__(other)


class Stages(compiler.Compiler):
    """Numba's, from source to library."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        state: Any = self.state
        state.flags = _Flags(state.flags)


def rebuild_bitcode(
    target_context: Any, name: str, bitcode: bytes, described: Any, environment: Any, signature: Any, objectmode: bool,
    lifted: Any, annotation: str, reload_init: Any, referenced: Any,
) -> Any:  # fmt: skip
    """A function from the bitcode that was kept of it, as Numba's `CompileResult._rebuild` makes those with machine code."""
    for begin in reload_init:
        begin()
    library = LateLibrary(target_context.codegen(), name)
    library._final_module = library._shared_module = llvm.parse_bitcode(bitcode)
    library._finalize_final_module()
    return compiler.CompileResult(
        target_context=target_context, typing_context=target_context.typing_context, library=library,
        environment=environment, entry_point=target_context.get_executable(library, described, environment),
        fndesc=described, type_annotation=annotation, signature=signature, objectmode=objectmode, lifted=lifted,
        typing_error=None, call_helper=None, metadata=None, reload_init=reload_init, referenced_envs=referenced,
    )  # fmt: skip
