//! Which of several methods a call means.

use super::Lowerer;
use crate::csharp::types::Ty;
use crate::csharp::world::{Method, Mode};

impl<'a> Lowerer<'_, 'a> {
    /// Those of the methods that take a number of arguments; an override stands for what it
    /// overrides.
    pub fn applicable(&self, all: &[u32], n: usize) -> Vec<u32> {
        let mut out: Vec<u32> =
            all.iter().copied().filter(|m| self.world.methods[*m as usize].takes(n)).collect();
        let mut seen: Vec<(usize, Vec<Ty>)> = Vec::new();
        out.retain(|m| {
            let method = &self.world.methods[*m as usize];
            let types = method.params.iter().map(|p| p.ty.clone()).collect();
            let key = (method.type_params.len(), types);
            let new = !seen.contains(&key);
            seen.push(key);
            new
        });
        out
    }

    /// The best of several methods for arguments of some types.
    pub fn best(&self, all: &[u32], arguments: &[Ty]) -> Option<u32> {
        all.iter()
            .copied()
            .enumerate()
            .max_by_key(|(i, m)| {
                (self.fitness(&self.world.methods[*m as usize], arguments), std::cmp::Reverse(*i))
            })
            .map(|m| m.1)
    }

    fn fitness(&self, m: &Method<'a>, arguments: &[Ty]) -> i32 {
        let mut sum = if m.params.len() == arguments.len() { 2 } else { 0 };
        // Between two that fit alike the one without type parameters is meant.
        sum += i32::from(m.type_params.is_empty());
        for (p, a) in m.params.iter().zip(arguments) {
            sum += if p.mode == Mode::Rest { -1 } else { self.fit(&p.ty, a) };
        }
        sum
    }

    fn fit(&self, param: &Ty, argument: &Ty) -> i32 {
        match (param, argument) {
            (p, a) if p == a => 8,
            (_, Ty::Unknown | Ty::Extern(_)) => 0,
            (Ty::Param(_) | Ty::Object | Ty::Unknown, _) => 2,
            (Ty::Float(_), Ty::Int(_)) => 3,
            (Ty::Int(_), Ty::Int(_)) => 4,
            (p, Ty::Null) => {
                if p.is_number() {
                    -20
                } else {
                    1
                }
            }
            (Ty::Func(p, _), Ty::Func(a, _)) => {
                if p.len() == a.len() {
                    6
                } else {
                    -10
                }
            }
            (Ty::Class(c, _), Ty::Class(a, _)) if self.world.ancestry(*a).contains(c) => 5,
            (Ty::Array(_), Ty::Array(_)) | (Ty::Tuple(_), Ty::Tuple(_)) => 5,
            (Ty::Extern(_), _) => 0,
            (Ty::Nullable(p), a) if **p == *a => 6,
            _ => -20,
        }
    }

    /// What calling a method of an object of some type gives.
    pub fn method_result(&self, ty: &Ty, name: &str, n: usize) -> Ty {
        let Ty::Class(c, args) = ty else {
            return match ty {
                Ty::Array(t) if name == "get_Item" => (**t).clone(),
                _ => Ty::Unknown,
            };
        };
        let methods = self.applicable(&self.world.methods_named(*c, name), n);
        match methods.first() {
            Some(m) => {
                let m = &self.world.methods[*m as usize];
                m.ret.substitute(&self.world.class(*c).type_params, args)
            }
            None => Ty::Unknown,
        }
    }
}
