//! The lists that come with raddle.

macro_rules! list {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../apis/", $name)))
    };
}

pub const SHIPPED: &[(&str, &str)] = &[
    list!("cxx-containers.toml"),
    list!("cxx-strings.toml"),
    list!("cxx-iterators.toml"),
    list!("cxx-pointers.toml"),
    list!("cxx-streams.toml"),
    list!("rust-std.toml"),
    list!("glibc.toml"),
    list!("stdio-unlocked.toml"),
    list!("sqlite.toml"),
    list!("curl.toml"),
    list!("zlib.toml"),
    list!("bzip2.toml"),
    list!("libxml2.toml"),
    list!("expat.toml"),
    list!("openssl.toml"),
    list!("glib.toml"),
];
