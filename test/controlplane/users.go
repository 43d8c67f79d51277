package controlplane

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
)

// usersFile has the users of a plane in the format of the API server's --token-auth-file.
const usersFile = "users.csv"

// user is who asks the API server. It has a token and no certificate, because the server verifies the signature of a certificate at each
// request (x509.Authenticator.AuthenticateRequest of apiserver v0.36.3): that was one twelfth of its processor time in the end-to-end tests.
type user struct {
	name, group string // the group may be empty
	token       string
}

// newUser creates a user with a random token.
func newUser(name, group string) user { return user{name, group, rand.Text()} }

// writeUsers writes the users, readable only by the owner of the plane.
func writeUsers(file string, users ...user) error {
	var text strings.Builder
	for _, u := range users {
		fmt.Fprintf(&text, "%s,%s,%s,%q\n", u.token, u.name, u.name, u.group)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return fmt.Errorf("write the users: %w", err)
	}
	return nil
}
