//! Models of the library: the effects of its functions that matter for races and deadlocks.
//!
//! A model is a C function over the `__raddle_` instructions (see `lower/builtin.rs`), so that the
//! core knows no C and a new model is one line in one of the `.c` files here. Models are lowered
//! once and linked weakly: a program that defines `sem_wait` itself gets its own. `prelude.h`
//! contains the declarations of the headers. Atomics are generic in their type and therefore a
//! table of the lowering (`lower/atomics.rs`), as are the OpenMP directives (`lower/omp.rs`).

use std::sync::Arc;

use crate::ir::Unit;

/// The models, linked after a program's own units.
pub fn unit() -> Arc<Unit> {
    super::front::model_unit()
}

pub(super) fn prelude_text() -> &'static str {
    include_str!("prelude.h")
}

pub(super) fn model_text() -> String {
    [
        include_str!("pthread.c"),
        include_str!("c11.c"),
        include_str!("sem.c"),
        include_str!("memory.c"),
        include_str!("stdio.c"),
        include_str!("system.c"),
        include_str!("annotations.c"),
        include_str!("threads.c"),
    ]
    .concat()
}
