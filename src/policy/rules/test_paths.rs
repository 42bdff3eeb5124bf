//! Which paths are tests, in the layouts and by the names that test runners look for.

/// Whether a path is a test.
pub(super) fn is_test(path: &str) -> bool {
    path.to_lowercase().split('/').any(|segment| matches!(segment, "test" | "tests" | "__tests__"))
}
