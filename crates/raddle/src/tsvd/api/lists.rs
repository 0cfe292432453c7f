//! The lists that raddle brings with it.

macro_rules! list {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../apis/", $name)))
    };
}

pub const SHIPPED: &[(&str, &str)] = &[list!("cxx-containers.toml")];
