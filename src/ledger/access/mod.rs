//! Who is calling, and what their token lets them do.

pub mod tokens;
