package diagnose

// RuleCodes returns the codes of the rules in the order of the table.
func RuleCodes() []string {
	var codes []string
	for _, r := range rules {
		codes = append(codes, r.code)
	}
	return codes
}

// RecordedRules are the rules that LintIn checks.
var RecordedRules = recordedRules
