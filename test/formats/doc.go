// Package formats tests the documents that helmdrift writes for other tools with the parsers of others: the schema of SARIF, a reader of
// JUnit, and a parser of GitHub's Markdown. It is a module of its own, so that these libraries stay out of what users build.
package formats
