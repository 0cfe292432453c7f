//! Static types, as far as the lowering needs them: arithmetic, overloads, extension methods,
//! copies of structures. Members are found through the object at run time, so an unknown type costs
//! little.

use std::rc::Rc;

use crate::ir::Scalar;

#[derive(Debug, Clone, PartialEq, Default)]
pub enum Ty {
    #[default]
    Unknown,
    Void,
    Null,
    Bool,
    Int(Scalar),
    Float(Scalar),
    Text,
    Object,
    /// A class of the program or of the models, with type arguments.
    Class(u32, Rc<[Ty]>),
    Array(Rc<Ty>),
    /// A type parameter.
    Param(Rc<str>),
    /// A delegate: its parameters and its result.
    Func(Rc<[Ty]>, Rc<Ty>),
    Tuple(Rc<[(Rc<str>, Ty)]>),
    Nullable(Rc<Ty>),
    /// A library type that nobody models.
    Extern(Rc<str>),
}

impl Ty {
    pub const INT: Ty = Ty::Int(Scalar::I32);
    pub const LONG: Ty = Ty::Int(Scalar::I64);

    pub fn class(&self) -> Option<u32> {
        match self {
            Ty::Class(c, _) => Some(*c),
            _ => None,
        }
    }

    pub fn is_known(&self) -> bool {
        !matches!(self, Ty::Unknown | Ty::Param(_) | Ty::Extern(_) | Ty::Object | Ty::Null)
    }

    /// The scalar type of its arithmetic.
    pub fn scalar(&self) -> Scalar {
        match self {
            Ty::Int(s) | Ty::Float(s) => *s,
            Ty::Bool => Scalar::I32,
            Ty::Nullable(t) => t.scalar(),
            _ => Scalar::I64,
        }
    }

    pub fn is_number(&self) -> bool {
        match self {
            Ty::Int(_) | Ty::Float(_) | Ty::Bool => true,
            Ty::Nullable(t) => t.is_number(),
            _ => false,
        }
    }

    /// The type of an arithmetic operation on both.
    pub fn wider(&self, other: &Ty) -> Ty {
        let rank = |t: &Ty| match t {
            Ty::Float(Scalar::F64) => 6,
            Ty::Float(_) => 5,
            Ty::Int(Scalar::U64) => 4,
            Ty::Int(Scalar::I64) => 3,
            Ty::Int(Scalar::U32) => 2,
            Ty::Int(_) | Ty::Bool => 1,
            Ty::Nullable(_) => 1,
            _ => 0,
        };
        match rank(self).max(rank(other)) {
            6 => Ty::Float(Scalar::F64),
            5 => Ty::Float(Scalar::F32),
            4 => Ty::Int(Scalar::U64),
            3 => Ty::Int(Scalar::I64),
            2 => Ty::Int(Scalar::U32),
            1 => Ty::INT,
            _ => Ty::Unknown,
        }
    }

    /// Replaces type parameters.
    pub fn substitute(&self, names: &[Rc<str>], with: &[Ty]) -> Ty {
        if names.is_empty() {
            return self.clone();
        }
        let sub = |t: &Ty| t.substitute(names, with);
        match self {
            Ty::Param(p) => names
                .iter()
                .position(|n| n == p)
                .map(|i| with.get(i).cloned().unwrap_or_default())
                .unwrap_or_else(|| self.clone()),
            Ty::Class(c, args) => Ty::Class(*c, args.iter().map(sub).collect()),
            Ty::Array(t) => Ty::Array(Rc::new(sub(t))),
            Ty::Nullable(t) => Ty::Nullable(Rc::new(sub(t))),
            Ty::Func(p, r) => Ty::Func(p.iter().map(sub).collect(), Rc::new(sub(r))),
            Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|(n, t)| (n.clone(), sub(t))).collect()),
            other => other.clone(),
        }
    }

    /// Infers type arguments from an argument's type. It infers `T` from `int`, but not
    /// `IEnumerable<T>` from `List<int>`.
    pub fn learn(&self, actual: &Ty, names: &[Rc<str>], with: &mut [Ty]) {
        match (self, actual) {
            (Ty::Param(p), t) if *t != Ty::Unknown => {
                if let Some(i) = names.iter().position(|n| n == p)
                    && with[i] == Ty::Unknown
                {
                    with[i] = t.clone();
                }
            }
            (Ty::Func(_, r), Ty::Func(_, actual)) => r.learn(actual, names, with),
            (Ty::Array(t), Ty::Array(a)) => t.learn(a, names, with),
            (Ty::Class(c, args), Ty::Class(d, actual)) if c == d || args.len() == actual.len() => {
                for (t, a) in args.iter().zip(actual.iter()) {
                    t.learn(a, names, with);
                }
            }
            (Ty::Class(_, args), Ty::Array(a)) if args.len() == 1 => args[0].learn(a, names, with),
            _ => {}
        }
    }
}

/// A keyword type of the language.
pub fn predefined(name: &str) -> Ty {
    match name {
        "bool" | "Boolean" => Ty::Bool,
        "byte" | "Byte" => Ty::Int(Scalar::U8),
        "sbyte" | "SByte" => Ty::Int(Scalar::I8),
        "short" | "Int16" => Ty::Int(Scalar::I16),
        "ushort" | "UInt16" | "char" | "Char" => Ty::Int(Scalar::U16),
        "int" | "Int32" => Ty::Int(Scalar::I32),
        "uint" | "UInt32" => Ty::Int(Scalar::U32),
        "long" | "Int64" | "nint" | "IntPtr" => Ty::Int(Scalar::I64),
        "ulong" | "UInt64" | "nuint" | "UIntPtr" => Ty::Int(Scalar::U64),
        "float" | "Single" => Ty::Float(Scalar::F32),
        "double" | "Double" | "decimal" | "Decimal" => Ty::Float(Scalar::F64),
        "string" | "String" => Ty::Text,
        "object" | "Object" => Ty::Object,
        "void" => Ty::Void,
        _ => Ty::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_parameters_are_replaced_and_learned() {
        let t: Rc<str> = "T".into();
        let list = Ty::Class(7, Rc::from([Ty::Param(t.clone())]));
        let names = [t];
        assert_eq!(list.substitute(&names, &[Ty::INT]), Ty::Class(7, Rc::from([Ty::INT])));
        let mut with = [Ty::Unknown];
        list.learn(&Ty::Class(9, Rc::from([Ty::Text])), &names, &mut with);
        assert_eq!(with, [Ty::Text]);
    }

    #[test]
    fn arithmetic_widens() {
        assert_eq!(Ty::INT.wider(&Ty::LONG), Ty::LONG);
        assert_eq!(Ty::Int(Scalar::U8).wider(&Ty::Int(Scalar::U8)), Ty::INT);
        assert_eq!(Ty::INT.wider(&Ty::Float(Scalar::F64)), Ty::Float(Scalar::F64));
        assert_eq!(Ty::Unknown.wider(&Ty::Unknown), Ty::Unknown);
    }
}
