// Package garbage says when the runtime collects garbage: later than usual in a command that ends soon, and earlier in a scan of many
// releases. A user's own GOGC and GOMEMLIMIT take precedence. A child process bounds its memory itself (internal/confine).
package garbage
