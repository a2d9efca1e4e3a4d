package otlp

import (
	"fmt"

	"varve/server/protowire"
)

// The requests of all signals are alike: items lie in scopes, scopes in resources. The attributes of a resource or a
// scope may come behind its scopes or items, so each message is first searched for them.

// resourceFields are the fields of a resource itself. The attributes are good until the next resource.
type resourceFields struct {
	present    bool // the message has a resource
	attributes []attribute
	schemaURL  []byte
}

// scopeFields are the fields of a scope itself, and the message that holds its items as fields 2.
type scopeFields struct {
	present       bool
	name, version []byte
	attributes    []attribute
	schemaURL     []byte
	message       []byte
}

// resourceReader walks the resources and scopes of a request.
type resourceReader struct {
	resource resourceFields
	scope    scopeFields
}

// each calls begin for each resource of a request, and then scope for each of its scopes.
func (r *resourceReader) each(message []byte, begin func(*resourceFields) error, scope func(*scopeFields) error) error {
	f := protowire.Of(message)
	for f.Next() {
		if !f.Is(1, protowire.Bytes) {
			continue
		}
		if err := r.readResource(f.Bytes); err != nil {
			return fmt.Errorf("resource: %w", err)
		}
		if err := begin(&r.resource); err != nil {
			return err
		}
		in := protowire.Of(f.Bytes)
		for in.Next() {
			if !in.Is(2, protowire.Bytes) {
				continue
			}
			if err := r.readScope(in.Bytes); err != nil {
				return fmt.Errorf("scope: %w", err)
			}
			if err := scope(&r.scope); err != nil {
				return err
			}
		}
	}
	return f.Err()
}

// readResource reads all but the scopes of ResourceX{1: Resource{1: KeyValue*}, 2: ScopeX*, 3: schema URL}.
func (r *resourceReader) readResource(message []byte) (err error) {
	to := &r.resource
	*to = resourceFields{attributes: to.attributes[:0]}
	to.present, to.schemaURL, err = describe(message, func(in *protowire.Fields) (err error) {
		if in.Is(1, protowire.Bytes) {
			to.attributes, err = appendAttribute(to.attributes, in)
		}
		return err
	})
	return err
}

// readScope reads all but the items of ScopeX{1: InstrumentationScope{1: name, 2: version, 3: KeyValue*}, 2: X*, 3:
// schema URL}.
func (r *resourceReader) readScope(message []byte) (err error) {
	to := &r.scope
	*to = scopeFields{attributes: to.attributes[:0], message: message}
	to.present, to.schemaURL, err = describe(message, func(in *protowire.Fields) (err error) {
		switch {
		case in.Is(1, protowire.Bytes):
			to.name = in.Bytes
		case in.Is(2, protowire.Bytes):
			to.version = in.Bytes
		case in.Is(3, protowire.Bytes):
			to.attributes, err = appendAttribute(to.attributes, in)
		}
		return err
	})
	return err
}

// describe reads the message of a resource or a scope. It calls field for each field of field 1, which describes the
// resource or the scope; present says that it is there. It returns field 3, the schema URL.
func describe(message []byte, field func(in *protowire.Fields) error) (present bool, schemaURL []byte, err error) {
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(3, protowire.Bytes):
			schemaURL = f.Bytes
		case f.Is(1, protowire.Bytes):
			present = true
			in := protowire.Of(f.Bytes)
			for in.Next() {
				if err := field(&in); err != nil {
					return present, schemaURL, err
				}
			}
			if in.Err() != nil {
				return present, schemaURL, in.Err()
			}
		}
	}
	return present, schemaURL, f.Err()
}

// forget lets go of the message.
func (r *resourceReader) forget() {
	clear(r.resource.attributes[:cap(r.resource.attributes)])
	clear(r.scope.attributes[:cap(r.scope.attributes)])
	*r = resourceReader{resource: resourceFields{attributes: r.resource.attributes[:0]},
		scope: scopeFields{attributes: r.scope.attributes[:0]}}
}

// bytes is the memory that the reader keeps.
func (r *resourceReader) bytes() int64 {
	return attributeBytes * int64(cap(r.resource.attributes)+cap(r.scope.attributes))
}

// attributeBytes is the size of an attribute, whose texts lie in a message.
const attributeBytes = 64
