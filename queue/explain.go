package queue

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// userinfo finds the user and password of a URL inside a text, up to the last @
// of the word, for a password may hold one.
var userinfo = regexp.MustCompile(`([a-z]+://)[^\s"']*@`)

// redact takes user names and passwords of URLs out of a text.
func redact(text string) string { return userinfo.ReplaceAllString(text, "$1***@") }

// Explain turns any error of this package, go-redis or the network into one
// plain sentence without secrets.
func Explain(err error) string {
	if err == nil {
		return ""
	}
	return redact(explain(err))
}

func explain(err error) string {
	var opened *openError
	if errors.As(err, &opened) {
		return opened.sentence
	}
	switch {
	case errors.Is(err, ErrUnknownOutcome):
		return withCause(ErrUnknownOutcome, err)
	case errors.Is(err, ErrNotSent):
		return withCause(ErrNotSent, err)
	}
	if sentence := explainNetwork(err); sentence != "" {
		return sentence
	}
	if isReply(err) {
		return explainReply(err.Error())
	}
	return strings.TrimPrefix(err.Error(), "redis: ")
}

// isReply reports whether err is an error reply of the server.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && !errors.Is(err, redis.ErrClosed)
}

// withCause explains the cause that was wrapped together with a sentinel error.
func withCause(sentinel, err error) string {
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		for _, cause := range many.Unwrap() {
			if !errors.Is(cause, sentinel) {
				return sentinel.Error() + ": " + explain(cause)
			}
		}
	}
	return err.Error()
}

// explainNetwork returns "" when err is no failure of the connection.
func explainNetwork(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		where := "the server"
		if op.Addr != nil {
			where = op.Addr.String()
		}
		return explainDial(op, where)
	}
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted):
		return "all connections are busy"
	case errors.Is(err, redis.ErrClosed):
		return "the connection was closed"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "the server does not answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return "the server closed the connection"
	case strings.Contains(err.Error(), `"HTTP/`):
		return "an HTTP server answers there, not Redis"
	case strings.Contains(err.Error(), "redis: can't parse"), strings.Contains(err.Error(), "redis: invalid reply"):
		return "what answers there does not speak Redis's protocol"
	}
	return ""
}

func explainDial(op *net.OpError, where string) string {
	var handshake *handshakeError
	if errors.As(op, &handshake) {
		return explainHandshake(handshake)
	}
	var dns *net.DNSError
	switch {
	case errors.As(op, &dns) && dns.IsNotFound:
		return "unknown host " + dns.Name
	case errors.As(op, &dns):
		return fmt.Sprintf("the name of host %s could not be looked up", dns.Name)
	case errors.Is(op, syscall.ECONNREFUSED):
		return "nobody listens at " + where
	case errors.Is(op, os.ErrNotExist):
		return "there is no socket " + where
	case errors.Is(op, os.ErrPermission):
		return "no permission to use " + where
	case errors.Is(op, syscall.ENOTSOCK):
		return where + " is not a socket"
	case errors.Is(op, syscall.EHOSTUNREACH), errors.Is(op, syscall.ENETUNREACH):
		return "there is no way to " + where
	case errors.Is(op, context.Canceled):
		return "cancelled"
	case op.Timeout(), errors.Is(op, context.DeadlineExceeded):
		return "no connection to " + where + " in time"
	}
	return fmt.Sprintf("no connection to %s: %v", where, op.Err)
}

func explainHandshake(e *handshakeError) string {
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		record   tls.RecordHeaderError
		alert    tls.AlertError
	)
	switch {
	case errors.As(e, &unknown):
		return fmt.Sprintf("the certificate of %s is signed by an unknown authority: name it with --tls-ca", e.addr)
	case errors.As(e, &hostname):
		return fmt.Sprintf("the certificate of %s is for another name", e.addr)
	case errors.As(e, &invalid):
		return fmt.Sprintf("the certificate of %s is not valid: %v", e.addr, invalid)
	case errors.As(e, &alert):
		return fmt.Sprintf("%s refused the TLS connection: %v", e.addr, alert)
	case errors.As(e, &record), errors.Is(e, io.EOF), errors.Is(e, syscall.ECONNRESET),
		errors.Is(e, context.DeadlineExceeded), errors.Is(e, os.ErrDeadlineExceeded):
		return e.addr + " does not speak TLS: is it redis:// instead of rediss://?"
	}
	return redact(e.Error())
}

// explainReply says what an error reply means for someone who connects.
func explainReply(text string) string {
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case has("WRONGPASS"), has("invalid password"), has("invalid username-password pair"):
		return "wrong user name or password"
	case has("NOAUTH"):
		return "the server wants a password"
	case has("without any password configured"), has("no password is set"):
		return "the server has no password, and one was given"
	case has("DB index is out of range"), has("invalid DB index"):
		return "the server has no database of that number"
	case has("max number of clients"):
		return "the server has as many clients as it may"
	case has("DENIED"):
		return "the server is in protected mode and takes no connection from here"
	case has("cluster support disabled"):
		return "the server is not part of a cluster"
	case has("No such master with that name"):
		return "the sentinels know no master of that name"
	}
	return classifyReply(text).Error()
}

// explain says what was wrong with a first connection: where, and what to try.
func (t *target) explain(err error) string {
	single := !t.cluster && t.sentinel == ""
	var op *net.OpError
	switch {
	case single && errors.As(err, &op) && op.Op == "dial":
		// The address as it was given: localhost may have been tried under two.
		return redact(explainDial(op, t.addrs[0]))
	case t.sentinel != "" && errors.Is(err, redis.Nil):
		return fmt.Sprintf("the sentinels at %s know no master %q", strings.Join(t.addrs, ","), t.sentinel)
	}
	sentence := t.address() + ": " + Explain(err)
	if t.base.TLSConfig == nil && t.base.Network != "unix" && closedAtOnce(err) {
		sentence += ": does it want TLS (rediss://)?"
	}
	return sentence
}

// closedAtOnce reports the answers that a TLS port gives to a plain client.
func closedAtOnce(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || strings.Contains(err.Error(), `\x15\x03`)
}
