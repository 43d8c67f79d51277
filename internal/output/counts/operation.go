package counts

import "github.com/helmdrift/helmdrift/pkg/report"

// OperationName returns what the report predicts, as the subject of a sentence.
func OperationName(op report.Operation) string {
	if IsPreview(op) {
		return "the " + string(op)
	}
	return "the next upgrade"
}

// IsPreview reports whether somebody is about to run the operation. Such a report separates the changes of the operation from drift. A
// report of drift, or of an operation of a later version, does not.
func IsPreview(op report.Operation) bool {
	switch op {
	case report.OperationUpgrade, report.OperationRollback, report.OperationInstall, report.OperationSync:
		return true
	case report.OperationDrift:
	}
	return false
}

// IsInstall reports whether the operation has no revision to start from.
func IsInstall(rel report.Release) bool {
	return rel.Operation == report.OperationInstall && rel.Old == nil
}
