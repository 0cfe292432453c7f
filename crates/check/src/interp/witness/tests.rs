use super::*;

const X: u64 = 0xFFF4_5EED_0000_002A;
const Y: u64 = 0xFFF4_5EED_0000_002C;
const I: Scalar = Scalar::I32;

/// Assumes a condition if possible. Returns whether it was.
fn holds(w: &mut Witness, condition: u64, wanted: bool) -> bool {
    let (name, negated) = w.strip(condition);
    w.assume(name, wanted != negated) == (wanted != negated)
}

#[test]
fn the_same_expression_is_the_same_unknown() {
    let mut w = Witness::default();
    let a = w.bin(Bin::Add, I, X, 1);
    assert!(is_unknown(a));
    assert_eq!(a, w.bin(Bin::Add, I, X, 1));
    assert_ne!(a, w.bin(Bin::Add, I, X, 2));
    assert_ne!(a, w.bin(Bin::Add, I, Y, 1));
}

#[test]
fn what_is_certain_stays_certain() {
    let mut w = Witness::default();
    assert_eq!(w.bin(Bin::Mul, I, X, 0), 0);
    assert_eq!(w.bin(Bin::Eq, I, X, X), 1);
    assert_eq!(w.bin(Bin::Sub, I, X, X), 0);
    assert_eq!(w.bin(Bin::Add, I, X, 0), X);
    let up = w.bin(Bin::Add, I, X, 1);
    assert_eq!(w.bin(Bin::Sub, I, up, 1), X);
    let next = w.index(X, 2, 4);
    assert_eq!(w.index(next, u64::MAX, 8), X);
}

#[test]
fn a_wider_bound_follows_from_a_narrower() {
    let mut w = Witness::default();
    let (three, five) = (w.bin(Bin::Gt, I, X, 3), w.bin(Bin::Gt, I, X, 5));
    assert!(holds(&mut w, three, false));
    assert!(!holds(&mut w, five, true), "not above 3 is not above 5");
    let mut w = Witness::default();
    let (three, five) = (w.bin(Bin::Gt, I, X, 3), w.bin(Bin::Gt, I, X, 5));
    assert!(holds(&mut w, three, true));
    assert!(holds(&mut w, five, true));
    assert!(holds(&mut w, three, true));
}

#[test]
fn both_sides_of_what_is_open_can_be_taken() {
    for wanted in [false, true] {
        let mut w = Witness::default();
        let low = w.bin(Bin::Ge, I, X, 1);
        let high = w.bin(Bin::Le, I, X, 64);
        let eight = w.bin(Bin::Eq, I, X, 8);
        assert!(holds(&mut w, low, true) && holds(&mut w, high, true));
        assert!(holds(&mut w, eight, wanted));
    }
}

#[test]
fn masks_and_remainders_are_solved() {
    let mut w = Witness::default();
    let bits = w.bin(Bin::And, Scalar::U32, X, 0xFF00);
    let same = w.bin(Bin::Eq, Scalar::U32, bits, 0x1200);
    let rest = w.bin(Bin::Rem, Scalar::U32, X, 2);
    let odd = w.bin(Bin::Eq, Scalar::U32, rest, 1);
    assert!(holds(&mut w, same, true));
    assert!(holds(&mut w, odd, true));
    let none = w.bin(Bin::Eq, Scalar::U32, bits, 0);
    assert!(!holds(&mut w, none, true));
}

#[test]
fn another_root_gives_way() {
    let mut w = Witness::default();
    let same = w.bin(Bin::Eq, I, X, Y);
    let five = w.bin(Bin::Eq, I, X, 5);
    let six = w.bin(Bin::Gt, I, Y, 5);
    assert!(holds(&mut w, same, true));
    assert!(holds(&mut w, five, true));
    assert!(!holds(&mut w, six, true), "both are 5");
}

#[test]
fn a_narrow_copy_is_not_the_whole() {
    let mut w = Witness::default();
    let small = w.conv(Scalar::I32, Scalar::U8, X);
    let back = w.conv(Scalar::U8, Scalar::I32, small);
    let (large, big) = (w.bin(Bin::Gt, I, back, 255), w.bin(Bin::Gt, I, X, 255));
    assert!(!holds(&mut w, large, true), "no byte is above 255");
    assert!(holds(&mut w, big, true));
}

#[test]
fn a_term_without_end_becomes_a_root() {
    let mut w = Witness::default();
    let mut v = X;
    for _ in 0..1000 {
        let product = w.bin(Bin::Mul, I, v, 31);
        v = w.bin(Bin::Add, I, product, 7);
    }
    let odd = w.bin(Bin::And, I, v, 1);
    let once = holds(&mut w, odd, true);
    assert_eq!(holds(&mut w, odd, true), once);
}

#[test]
fn what_waits_for_ever_changes() {
    let mut w = Witness::default();
    let (name, _) = w.strip(X);
    assert!(w.assume(name, true));
    let mut standing = w.standing(name);
    for _ in 0..PATIENCE {
        standing = w.standing(name);
    }
    assert_eq!(standing, ConditionStatus::Overdue(true));
    w.forget(name);
    assert!(!w.assume(name, false));
}

#[test]
fn a_value_with_others_in_place_of_its_roots() {
    let mut w = Witness::default();
    let sum = w.bin(Bin::Add, I, X, 2);
    let condition = w.bin(Bin::Lt, I, sum, 5);
    let x_is = |value: u64| move |root: u32| (root == number(X)).then_some(value);
    assert_eq!(w.substitute(condition, &x_is(1)), Some(1));
    assert_eq!(w.substitute(condition, &x_is(7)), Some(0));
    let of_y = w.bin(Bin::Add, I, Y, 2);
    assert_eq!(w.substitute(sum, &x_is(Y)), Some(of_y));
    assert_eq!(w.substitute(of_y, &x_is(1)), None, "it does not depend on it");
    assert_eq!(w.substitute(7, &x_is(1)), None);
}
