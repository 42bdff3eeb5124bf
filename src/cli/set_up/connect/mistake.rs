//! Why a configuration file is left alone.

/// Why a text is left alone: the rest of a sentence that begins with the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake(pub String);

/// The mistake of a text that its own parser does not take.
pub fn malformed(language: &str, line: usize, column: usize) -> Mistake {
    Mistake(format!("is not valid {language}: look at line {line}, column {column}"))
}

/// The mistake of a file that has another kind of value where an object belongs.
pub fn no_object(keys: &[String]) -> Mistake {
    Mistake(format!("has something other than an object at {}", keys.join(".")))
}
