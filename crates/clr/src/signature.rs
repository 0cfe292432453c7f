//! Signatures (ECMA-335 II.23.2), as far as the types of a call's arguments are needed. Each type
//! is kept as its bytes, because they only serve to declare a local variable of that type.

/// A compressed unsigned number, and what follows it.
pub fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    Some(match *bytes {
        [a, ref rest @ ..] if a < 0x80 => (u32::from(a), rest),
        [a, b, ref rest @ ..] if a < 0xC0 => (u32::from(a & 0x3F) << 8 | u32::from(b), rest),
        [a, b, c, d, ref rest @ ..] if a < 0xE0 => (u32::from_be_bytes([a & 0x1F, b, c, d]), rest),
        _ => return None,
    })
}

/// A compressed signed number (II.23.2): rotated, so that its sign is the last bit.
pub fn signed_number(bytes: &[u8]) -> Option<(i32, &[u8])> {
    let bits = match bytes.first()? {
        0..0x80 => 6,
        0x80..0xC0 => 13,
        _ => 28,
    };
    let (n, rest) = number(bytes)?;
    let sign = if n & 1 != 0 { 1 << bits } else { 0 };
    Some(((n >> 1) as i32 - sign, rest))
}

pub fn put_number(out: &mut Vec<u8>, n: u32) {
    match n {
        0..0x80 => out.push(n as u8),
        0x80..0x4000 => out.extend((n as u16 | 0x8000).to_be_bytes()),
        _ => out.extend((n | 0xC000_0000).to_be_bytes()),
    }
}

/// Codes of types (II.23.1.16).
mod element {
    pub const POINTER: u8 = 0x0F;
    pub const BY_REFERENCE: u8 = 0x10;
    pub const VALUE_TYPE: u8 = 0x11;
    pub const CLASS: u8 = 0x12;
    pub const CLASS_PARAMETER: u8 = 0x13;
    pub const ARRAY: u8 = 0x14;
    pub const GENERIC_INSTANCE: u8 = 0x15;
    pub const VECTOR: u8 = 0x1D;
    pub const METHOD_PARAMETER: u8 = 0x1E;
    pub const REQUIRED_MODIFIER: u8 = 0x1F;
    pub const OPTIONAL_MODIFIER: u8 = 0x20;
}

/// The arguments for type parameters: those of the class and those of the method.
#[derive(Clone, Copy)]
pub struct TypeArguments<'a> {
    pub class: &'a [Vec<u8>],
    pub method: &'a [Vec<u8>],
}

/// Copies a type to `out` with its type parameters replaced. Returns what follows it. None for a
/// rare kind of type, or if it is not a type at all.
pub fn copy_type<'a>(bytes: &'a [u8], with: TypeArguments, out: &mut Vec<u8>) -> Option<&'a [u8]> {
    use element::*;
    let (&code, rest) = bytes.split_first()?;
    match code {
        // void to string, typed reference, native integers, object.
        0x01..=0x0E | 0x16 | 0x18 | 0x19 | 0x1C => {
            out.push(code);
            Some(rest)
        }
        POINTER | BY_REFERENCE | VECTOR => {
            out.push(code);
            copy_type(rest, with, out)
        }
        VALUE_TYPE | CLASS => {
            out.push(code);
            copy_number(rest, out).map(|(_, rest)| rest)
        }
        CLASS_PARAMETER | METHOD_PARAMETER => {
            let (n, rest) = number(rest)?;
            let arguments = if code == CLASS_PARAMETER { with.class } else { with.method };
            out.extend(arguments.get(n as usize)?);
            Some(rest)
        }
        GENERIC_INSTANCE => {
            out.extend([code, *rest.first()?]);
            let (_, rest) = copy_number(&rest[1..], out)?;
            let (count, mut rest) = copy_number(rest, out)?;
            for _ in 0..count {
                rest = copy_type(rest, with, out)?;
            }
            Some(rest)
        }
        ARRAY => {
            out.push(code);
            let rest = copy_type(rest, with, out)?;
            let (_, mut rest) = copy_number(rest, out)?;
            // Sizes, then lower bounds, which are signed and just as long.
            for _ in 0..2 {
                let (count, following) = copy_number(rest, out)?;
                rest = following;
                for _ in 0..count {
                    rest = copy_number(rest, out)?.1;
                }
            }
            Some(rest)
        }
        // Modifiers mean nothing to a local variable.
        REQUIRED_MODIFIER | OPTIONAL_MODIFIER => copy_type(number(rest)?.1, with, out),
        _ => None,
    }
}

fn copy_number<'a>(bytes: &'a [u8], out: &mut Vec<u8>) -> Option<(u32, &'a [u8])> {
    let (n, rest) = number(bytes)?;
    out.extend(&bytes[..bytes.len() - rest.len()]);
    Some((n, rest))
}

/// The type arguments of an instantiated method. Type parameters in them are those of the
/// surrounding code, and stay.
pub fn method_arguments(spec: &[u8]) -> Option<Vec<Vec<u8>>> {
    list(spec.get(1..)?)
}

/// The class of an instance of a generic class, as a coded token, and its type arguments.
pub fn class_arguments(spec: &[u8]) -> Option<(u32, Vec<Vec<u8>>)> {
    let rest = spec.strip_prefix(&[element::GENERIC_INSTANCE])?;
    let (coded, rest) = number(rest.get(1..)?)?;
    Some((coded, list(rest)?))
}

/// The token of the structure that a type is, or is an instance of.
pub fn value_type(kind: &[u8]) -> Option<u32> {
    const TABLES: [u32; 3] = [0x02, 0x01, 0x1B];
    let kind = kind.strip_prefix(&[element::GENERIC_INSTANCE]).unwrap_or(kind);
    let (coded, _) = number(kind.strip_prefix(&[element::VALUE_TYPE])?)?;
    Some(TABLES.get(coded as usize & 3)? << 24 | coded >> 2)
}

fn list(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let parameter = |code: u8| (0..64_u8).map(|n| vec![code, n]).collect::<Vec<_>>();
    let (class, method) = (parameter(element::CLASS_PARAMETER), parameter(element::METHOD_PARAMETER));
    let itself = TypeArguments { class: &class, method: &method };
    let (count, mut rest) = number(bytes)?;
    let mut all = Vec::new();
    for _ in 0..count {
        let mut one = Vec::new();
        rest = copy_type(rest, itself, &mut one)?;
        all.push(one);
    }
    Some(all)
}

/// A method's signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodSignature {
    pub has_this: bool,
    pub result: Vec<u8>,
    pub parameters: Vec<Vec<u8>>,
}

pub fn method(bytes: &[u8], with: TypeArguments) -> Option<MethodSignature> {
    const GENERIC: u8 = 0x10;
    const HAS_THIS: u8 = 0x20;
    let (&kind, mut rest) = bytes.split_first()?;
    if kind & GENERIC != 0 {
        rest = number(rest)?.1;
    }
    let (count, rest) = number(rest)?;
    let mut result = Vec::new();
    let mut rest = copy_type(rest, with, &mut result)?;
    let mut parameters = Vec::new();
    for _ in 0..count {
        let mut one = Vec::new();
        rest = copy_type(rest, with, &mut one)?;
        parameters.push(one);
    }
    Some(MethodSignature { has_this: kind & HAS_THIS != 0, result, parameters })
}

/// Whether a type is the same wherever it is named, that is, contains no type parameter.
pub fn is_closed(kind: &[u8]) -> bool {
    copy_type(kind, TypeArguments { class: &[], method: &[] }, &mut Vec::new()).is_some()
}

/// Whether a type is certainly a reference type.
pub fn is_reference(kind: &[u8]) -> bool {
    const STRING: u8 = 0x0E;
    const OBJECT: u8 = 0x1C;
    match kind {
        [STRING | OBJECT | element::CLASS | element::VECTOR | element::ARRAY, ..] => true,
        [element::GENERIC_INSTANCE, of, ..] => *of == element::CLASS,
        _ => false,
    }
}

/// The type that an address refers to, if the type is an address.
pub fn by_reference(kind: &[u8]) -> Option<&[u8]> {
    kind.strip_prefix(&[element::BY_REFERENCE])
}

/// Whether a type is a type parameter.
pub fn is_parameter(kind: &[u8]) -> bool {
    matches!(kind.first(), Some(&(element::CLASS_PARAMETER | element::METHOD_PARAMETER)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_there_and_back() {
        for n in [0, 3, 0x7F, 0x80, 0x2E57, 0x3FFF, 0x4000, 0x1FFF_FFFF] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, n);
            assert_eq!(number(&bytes), Some((n, &[][..])), "{n:x}");
        }
        assert_eq!((number(&[]), number(&[0xFF, 0, 0, 0]), number(&[0x80])), (None, None, None));
        // The examples of the standard.
        for (value, bytes) in [(3, &[0x06][..]), (-3, &[0x7B]), (64, &[0x80, 0x80]), (-64, &[0x01])] {
            assert_eq!(signed_number(bytes), Some((value, &[][..])), "{value}");
        }
        assert_eq!(signed_number(&[0xC0, 0x00, 0x40, 0x00]), Some((8192, &[][..])));
        assert_eq!(signed_number(&[0x80, 0x01]), Some((-8192, &[][..])));
    }

    #[test]
    fn type_parameters_are_replaced() {
        let class = [vec![0x08], vec![0x1D, 0x0E]];
        let with = TypeArguments { class: &class, method: &[] };
        // instance void (!0, !1[], ref !0)
        let add = method(&[0x20, 3, 0x01, 0x13, 0, 0x1D, 0x13, 1, 0x10, 0x13, 0], with).unwrap();
        assert_eq!(add.parameters, [vec![0x08], vec![0x1D, 0x1D, 0x0E], vec![0x10, 0x08]]);
        assert!(add.has_this);
        assert_eq!(method(&[0x20, 1, 0x01, 0x13, 5], with), None, "there is no such argument");
    }

    #[test]
    fn arrays_of_several_dimensions_are_copied_whole() {
        let array = [0x14, 0x08, 2, 2, 3, 4, 2, 0, 0x02];
        let (mut out, with) = (Vec::new(), TypeArguments { class: &[], method: &[] });
        assert_eq!(copy_type(&array, with, &mut out), Some(&[][..]));
        assert_eq!(out, array);
    }

    #[test]
    fn instances_of_classes_name_the_class_and_its_arguments() {
        // Dictionary<string, List<!!0>>
        let spec = [0x15, 0x12, 0x09, 2, 0x0E, 0x15, 0x12, 0x0D, 1, 0x1E, 0];
        let (coded, arguments) = class_arguments(&spec).unwrap();
        assert_eq!((coded, arguments.len()), (9, 2));
        assert_eq!(arguments[1], [0x15, 0x12, 0x0D, 1, 0x1E, 0]);
        assert_eq!(class_arguments(&[0x1D, 0x08]), None, "an array is no such class");
    }

    #[test]
    fn kinds_of_types() {
        let list_of_int = [0x15, 0x12, 0x09, 1, 0x08];
        assert!(is_reference(&[0x1C]) && is_reference(&list_of_int) && is_reference(&[0x1D, 0x08]));
        assert!(
            !is_reference(&[0x08])
                && !is_reference(&[0x15, 0x11, 0x09, 1, 0x08])
                && !is_reference(&[0x13, 0])
        );
        assert!(is_closed(&list_of_int) && !is_closed(&[0x15, 0x12, 0x09, 1, 0x1E, 0]));
        assert_eq!(by_reference(&[0x10, 0x1D, 0x08]), Some(&[0x1D, 0x08][..]));
        assert!(is_parameter(&[0x13, 0]) && !is_parameter(&[0x08]));
    }

    #[test]
    fn broken_ones_are_refused() {
        let with = TypeArguments { class: &[], method: &[] };
        let whole = [0x20, 2, 0x01, 0x15, 0x12, 0x09, 1, 0x0E, 0x08];
        for len in 0..whole.len() {
            assert_eq!(method(&whole[..len], with), None);
        }
    }
}
