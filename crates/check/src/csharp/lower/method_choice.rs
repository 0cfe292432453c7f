//! Overload resolution.

use super::Lowerer;
use std::rc::Rc;

use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::csharp::world::{Method, Param, Passing};

impl<'a> Lowerer<'_, 'a> {
    /// The parameter types to evaluate arguments against, as far as all candidate methods agree.
    pub fn expected(&self, candidates: &[u32], receiver: &Ty, args: &[Syntax<'a>]) -> Vec<Ty> {
        let of = |m: &u32| {
            let method = &self.world.methods[*m as usize];
            let unknown = vec![Ty::Unknown; method.type_params.len()];
            let substituted = |p: &Param<'a>| {
                let ty = p.ty.substitute(&method.type_params, &unknown);
                match receiver {
                    Ty::Class(c, a) => ty.substitute(&self.world.class(*c).type_params, a),
                    _ => ty,
                }
            };
            method.params.iter().take_while(|p| p.mode != Passing::Rest).map(substituted).collect()
        };
        agreed(candidates.iter().map(of).collect(), args)
    }

    /// The same for extension methods, whose first argument is already on the stack.
    pub fn expected_after_this(&self, candidates: &[u32], this: &Ty, args: &[Syntax<'a>]) -> Vec<Ty> {
        let of = |m: &u32| {
            let method = &self.world.methods[*m as usize];
            let mut with = vec![Ty::Unknown; method.type_params.len()];
            method.params[0].ty.learn(this, &method.type_params, &mut with);
            method.params[1..].iter().map(|p| p.ty.substitute(&method.type_params, &with)).collect()
        };
        agreed(candidates.iter().map(of).collect(), args)
    }

    /// The methods that take this number of arguments. An override replaces what it overrides.
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
        // Between two equal fits, the one without type parameters is meant.
        sum += i32::from(m.type_params.is_empty());
        for (p, a) in m.params.iter().zip(arguments) {
            sum += if p.mode == Passing::Rest { -1 } else { self.fit(&p.ty, a) };
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

    /// The result type of calling a method of an object of some type.
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

/// What several lists of parameter types agree on, for arguments of some shape.
fn agreed(mut lists: Vec<Vec<Ty>>, args: &[Syntax<'_>]) -> Vec<Ty> {
    if lists.len() > 1 {
        let fitting: Vec<bool> = lists.iter().map(|l| takes_lambdas(l, args)).collect();
        if fitting.contains(&true) {
            let mut fits = fitting.into_iter();
            lists.retain(|_| fits.next().unwrap_or(true));
        }
    }
    let Some(mut common) = lists.pop() else { return Vec::new() };
    for other in lists {
        common.truncate(other.len());
        for (a, b) in common.iter_mut().zip(&other) {
            *a = agreement(a, b);
        }
    }
    common
}

/// Whether each lambda among the arguments meets a delegate with the same number of parameters.
fn takes_lambdas(params: &[Ty], args: &[Syntax<'_>]) -> bool {
    args.iter().zip(params).all(|(a, ty)| match (a.last(), ty) {
        (Some(e), Ty::Func(types, _)) if e.kind() == "lambda_expression" => {
            let list = e.field("parameters");
            list.is_none_or(|l| {
                let n = if l.kind() == "parameter_list" { l.children().len() } else { 1 };
                n == types.len()
            })
        }
        (Some(e), ty) if e.kind() == "lambda_expression" => {
            !ty.is_number() && !matches!(ty, Ty::Text | Ty::Array(_))
        }
        _ => true,
    })
}

fn agreement(a: &Ty, b: &Ty) -> Ty {
    match (a, b) {
        _ if a == b => a.clone(),
        (Ty::Func(p, r), Ty::Func(q, s)) if p.len() == q.len() => {
            let params = p.iter().zip(q.iter()).map(|(a, b)| agreement(a, b)).collect();
            Ty::Func(params, Rc::new(agreement(r, s)))
        }
        _ => Ty::Unknown,
    }
}
