//! The policies that need no `kind`: their section's name says what they check.

mod auth_change;
mod large_diff;
mod migration;
mod secret_pattern;
mod test_paths;
mod test_required;

use super::rule::Reader;

/// A policy that needs no `kind`: its section's name says what it checks.
pub(in crate::policy) struct BuiltIn {
    pub name: &'static str,
    /// Reads its keys; from an empty section it gets the defaults.
    pub read: Reader,
}

/// The built-in policies, in their order of evaluation without a policy file.
pub(in crate::policy) const BUILT_IN: [BuiltIn; 5] = [
    BuiltIn {
        name: "auth_change_requires_review",
        read: |section| Box::new(auth_change::AuthChange::read(section)),
    },
    BuiltIn {
        name: "secret_pattern_detection",
        read: |section| Box::new(secret_pattern::SecretPattern::read(section)),
    },
    BuiltIn {
        name: "test_required_for_high_risk",
        read: |section| Box::new(test_required::TestRequired::read(section)),
    },
    BuiltIn {
        name: "migration_requires_review",
        read: |section| Box::new(migration::Migration::read(section)),
    },
    BuiltIn {
        name: "large_diff_requires_human_approval",
        read: |section| Box::new(large_diff::LargeDiff::read(section)),
    },
];
