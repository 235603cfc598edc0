//! Rules for weights by the names of features.

use crate::features::FeatureMap;
use crate::optimize::WeightRule;
use crate::{Error, Result};

/// The rules for a model's weights: some fixed at a value, some kept from being negative. A name is that of a weight
/// ("shape-context r0 a0"), of a feature with all its weights ("shape-context"), or "all".
///
/// # Errors
/// A name that no weight has.
pub fn weight_rules(
    features: &FeatureMap,
    fixed: &[(String, f64)],
    non_negative: &[String],
) -> Result<Vec<WeightRule>> {
    let names = features.names();
    let mut rules = vec![WeightRule::Free; names.len()];
    let told = non_negative.iter().map(|name| (name, WeightRule::NonNegative));
    for (wanted, rule) in told.chain(fixed.iter().map(|(name, value)| (name, WeightRule::Fixed(*value)))) {
        let belongs = |name: &String| {
            wanted == "all"
                || name == wanted
                || name.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.starts_with(' '))
        };
        let mut found = false;
        for (rule_of, _) in rules.iter_mut().zip(&names).filter(|(_, name)| belongs(name)) {
            *rule_of = rule;
            found = true;
        }
        if !found {
            return Err(Error::NoSuchWeight { name: wanted.clone() });
        }
    }
    Ok(rules)
}
