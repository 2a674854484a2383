package gremlin

import (
	"fmt"
	"testing"

	gremlingo "github.com/apache/tinkerpop/gremlin-go/v3/driver"
	"github.com/google/uuid"

	"armilla/conformance/server"
)

func TestElements(t *testing.T) {
	client := scripts(t, makeModern(t), server.Key)
	vertex := run(t, client, "g.V('marko')")[0].(*gremlingo.Vertex)
	equal(t, []any{vertex.Id, vertex.Label}, []any{"marko", "person"})
	edge := run(t, client, "g.E('e7')")[0].(*gremlingo.Edge)
	equal(t, []any{edge.Id, edge.Label, edge.OutV.Id, edge.InV.Id}, []any{"e7", "knows", "marko", "vadas"})
	property := run(t, client, "g.V('marko').properties('age')")[0].(*gremlingo.VertexProperty)
	equal(t, []any{property.Label, property.Value}, []any{"age", int32(29)})
	path := run(t, client, "g.V('marko').as('a').out('created').path().by('name')")[0].(*gremlingo.Path)
	equal(t, path.Objects, []any{"marko", "lop"})
	equal(t, path.Labels[0].ToSlice(), []any{"a"})
}

func TestScripts(t *testing.T) {
	client := scripts(t, makeModern(t), server.Key)
	for _, one := range []struct {
		script   string
		bindings map[string]any
		found    []any
	}{
		{"g.V().count()", nil, []any{int64(6)}},
		{"g.V(who).id()", map[string]any{"who": "marko"}, []any{"marko"}},
		{"g.V().has('age', gt(age)).id()", map[string]any{"age": 30}, []any{"josh", "peter"}},
		{"g.E().has('weight', lt(most)).id()", map[string]any{"most": 0.45}, []any{"e11", "e12", "e9"}},
		{"g.V().has('name', within(names)).id()", map[string]any{"names": []string{"lop", "josh"}}, []any{"josh", "lop"}},
		{"g.V('lop').in('created').id()", nil, []any{"josh", "marko", "peter"}},
		{"g.V('marko').repeat(out()).times(2).id()", nil, []any{"lop", "ripple"}},
		{"g.V('marko').valueMap('name')", nil, []any{map[any]any{"name": []any{"marko"}}}},
		{"g.V().groupCount().by(label)", nil, []any{map[any]any{"person": int64(4), "software": int64(2)}}},
		{"g.V().values('age').mean()", nil, []any{30.75}},
		{"g.inject(x)", map[string]any{"x": true}, []any{true}},
		{"g.inject(x)", map[string]any{"x": int64(1) << 40}, []any{int64(1) << 40}},
		{"g.V('no-such')", nil, []any{}},
	} {
		equal(t, sorted(run(t, client, one.script, one.bindings)), one.found, one.script)
	}
}

func TestWrites(t *testing.T) {
	client := scripts(t, makeGraph(t), server.Key)
	add := "g.addV('person').property('id', who).property('pk', who).property('age', 36)"
	for _, who := range []string{"ada", "bob"} {
		run(t, client, add, map[string]any{"who": who})
	}
	run(t, client, "g.V('ada').addE('knows').to(g.V('bob')).property('since', 1997)")
	equal(t, run(t, client, "g.V('bob').inE().values('since')"), []any{int32(1997)})
	run(t, client, "g.V('ada').property('age', 37)")
	equal(t, run(t, client, "g.V('ada').values('age')"), []any{int32(37)})
	equal(t, run(t, client, "g.V('bob').drop()"), []any{})
	equal(t, run(t, client, "g.V().id()"), []any{"ada"})
	equal(t, run(t, client, "g.E().count()"), []any{int64(0)})
}

func TestTheAttributesOfAnAnswer(t *testing.T) {
	client := scripts(t, makeModern(t), server.Key)
	results, err := client.Submit("g.V().has('name','josh')")
	must(t, err)
	found, err := results.All()
	equal(t, len(values(t, found, err)), 1)
	attributes := results.GetStatusAttributes()
	equal(t, fmt.Sprint(attributes["x-ms-status-code"]), "200")
	if charge, is := attributes["x-ms-total-request-charge"].(float64); !is || charge <= 0 {
		t.Errorf("no charge in %v", attributes)
	}
}

func TestErrors(t *testing.T) {
	client := scripts(t, makeModern(t), server.Key)
	refused(t, failed(client, "g.V().dance()"), 597, "Unable to find any method 'dance'", "x-ms-status-code:400")
	refused(t, failed(client, "g.addV('person').property('id','x')"), 597, "partition key")
	twice := "g.addV('person').property('id','marko').property('pk','people')"
	refused(t, failed(client, twice), 500, "x-ms-status-code:409")
	hurried := new(gremlingo.RequestOptionsBuilder).SetEvaluationTimeout(100).Create()
	results, err := client.SubmitWithOptions("g.V().repeat(both()).times(30).path().count()", hurried)
	must(t, err)
	_, err = results.All()
	refused(t, err, 598, "x-ms-status-code:1009")
	equal(t, run(t, client, "g.V().count()"), []any{int64(6)}, "the connection lives on")
}

func TestLargeResultsAndManyRequests(t *testing.T) {
	client := scripts(t, makeGraph(t), server.Key)
	many := make([]int, 1000)
	options := new(gremlingo.RequestOptionsBuilder).SetBatchSize(7).SetRequestId(uuid.New()).AddBinding("many", many)
	results, err := client.SubmitWithOptions("g.inject(many).unfold()", options.Create())
	must(t, err)
	all, err := results.All()
	equal(t, len(values(t, all, err)), 1000)
	pending := make([]gremlingo.ResultSet, 50)
	for number := range pending {
		pending[number], err = client.Submit("g.inject(n)", map[string]any{"n": number})
		must(t, err)
	}
	for number, results := range pending {
		all, err := results.All()
		equal(t, values(t, all, err), []any{int64(number)})
	}
}
