// Package html writes a report as one page for a browser: a file without network access, which a person opens, filters, links to and
// prints.
//
//	Report ─► releases, objects, fields ─► data (JSON) ─┐
//	   │      (words come from package text)            ├─► page.html ─► Document
//	   └────► answer, tiles, fields for noscript ───────┘        ▲
//	                                  style.css, *.js ─► hashes ─┘ (Content-Security-Policy)
//
// # Division of labour
//
// Go decides what the page says: which findings count, what a release is called, how a value is written, and which lines of a text
// differ. Package text has the words, so that both formats say the same. The answer at the top is part of the document. The script
// filters, searches and shows what is in the data, and marks which words of a line differ. Without scripts the answer and what was
// found, with marks on the lines that differ, are still there.
//
// # Hostile text
//
// Whoever may edit a label may try to write into the page. Four things keep a value a text:
//
//   - Package text escapes each text, so that no character in it is hidden, and no line of the file is a CI command.
//   - The data is one JSON document in a script element that the browser does not run. Go's encoder writes <, > and & as escapes, so
//     nothing in it ends the element. What stands outside of the data goes through html/template.
//   - The script makes elements by name and sets their text. It has no call that parses HTML, and the policy refuses such calls
//     (require-trusted-types-for).
//   - The policy names the hashes of the one style and the one script. Nothing else is applied, run or loaded.
//
// Links lead only to fragments of the page itself, and each part of a fragment is percent-encoded.
//
// # Speed
//
// The list of objects has elements only for the rows that are in sight, and an object has its fields only while it is open. So the number
// of elements does not grow with the report. test/browser measures a report with 10,000 findings.
//
// # Tests
//
// The tests beside this file check which objects, values and links the page holds; internal/output compares whole pages (TestHTMLGolden)
// and tries hostile texts (FuzzHTML), and test/browser opens pages in a browser.
package html
