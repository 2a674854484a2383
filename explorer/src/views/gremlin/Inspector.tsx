import type { Edge, Vertex } from '../../api/gremlin';
import { Button, CopyButton, counted } from '../../ui';
import { captionOf } from './elements';
import type { Graph, Node } from './graph';
import type { Chosen } from './GraphPane';

export interface InspectorProps {
  graph: Graph;
  chosen: NonNullable<Chosen>;
  isExpanding: boolean;
  onChoose(chosen: Chosen): void;
  onExpand(id: string): void;
  onClose(): void;
}

/** How many edges of a vertex are listed. */
const EDGES_MAX = 50;

/** A vertex or an edge with everything it has. */
export function Inspector(props: InspectorProps) {
  const { graph, chosen } = props;
  const node = chosen.kind === 'vertex' ? graph.nodes.get(chosen.id) : undefined;
  const link = chosen.kind === 'edge' ? graph.links.get(chosen.id) : undefined;
  if (node) return <VertexPane {...props} node={node} />;
  return link ? <EdgePane {...props} edge={link.edge} /> : null;
}

function VertexPane({ graph, node, isExpanding, onChoose, onExpand, onClose }: InspectorProps & { node: Node }) {
  const edges = [...graph.links.values()].filter((link) => link.source === node || link.target === node);
  return (
    <section class="inspector" aria-label="Chosen vertex">
      <Head title={node.label} kind="vertex" text={node.vertex ? JSON.stringify(node.vertex, null, 2) : null} onClose={onClose} />
      <div class="inspector-body">
        {!node.vertex && <p class="notice">Only its edges were found; the vertex itself is not read yet.</p>}
        <dl class="inspector-list">
          <Line name="id" value={node.id} />
          {node.vertex && <VertexProperties vertex={node.vertex} />}
        </dl>
        <Button small busy={isExpanding} onClick={() => onExpand(node.id)}>
          {node.vertex ? 'Show neighbours' : 'Read it and its neighbours'}
        </Button>
        {edges.length > 0 && (
          <section>
            <h3>{counted(edges.length, 'edge')} in the drawing</h3>
            <ul class="inspector-edges">
              {edges.slice(0, EDGES_MAX).map((link) => {
                const isOut = link.source === node;
                const other = isOut ? link.target : link.source;
                return (
                  <li key={link.id}>
                    <button type="button" onClick={() => onChoose({ kind: 'edge', id: link.id })}>
                      {isOut ? '→' : '←'} <strong>{link.edge.label}</strong> {other.vertex ? captionOf(other.vertex, '') : other.id}
                    </button>
                  </li>
                );
              })}
              {edges.length > EDGES_MAX && <li class="dim">and {edges.length - EDGES_MAX} more</li>}
            </ul>
          </section>
        )}
      </div>
    </section>
  );
}

function VertexProperties({ vertex }: { vertex: Vertex }) {
  return (
    <>
      {Object.entries(vertex.properties ?? {}).flatMap(([name, values]) =>
        values.flatMap((one) => [
          <Line key={`${name} ${one.id}`} name={name} value={one.value} />,
          ...Object.entries(one.properties ?? {}).map(([meta, value]) => (
            <Line key={`${name} ${one.id} ${meta}`} name={`${name} · ${meta}`} value={value} />
          )),
        ]),
      )}
    </>
  );
}

function EdgePane({ graph, edge, onChoose, onClose }: InspectorProps & { edge: Edge }) {
  const end = (id: string) => {
    const node = graph.nodes.get(id);
    return (
      <button type="button" class="inspector-end" onClick={() => onChoose({ kind: 'vertex', id })}>
        <span class="dim">{node?.label}</span> {node?.vertex ? captionOf(node.vertex, '') : id}
      </button>
    );
  };
  return (
    <section class="inspector" aria-label="Chosen edge">
      <Head title={edge.label} kind="edge" text={JSON.stringify(edge, null, 2)} onClose={onClose} />
      <div class="inspector-body">
        <p class="inspector-ends">
          {end(edge.outV)} <span aria-label="leads to">→</span> {end(edge.inV)}
        </p>
        <dl class="inspector-list">
          <Line name="id" value={edge.id} />
          {Object.entries(edge.properties ?? {}).map(([name, value]) => (
            <Line key={name} name={name} value={value} />
          ))}
        </dl>
      </div>
    </section>
  );
}

function Head({ title, kind, text, onClose }: { title: string; kind: string; text: string | null; onClose(): void }) {
  return (
    <div class="row inspector-head">
      <span class="badge">{kind}</span>
      <h2 class="grow ellipsis" title={title}>
        {title}
      </h2>
      {text !== null && <CopyButton text={text} label={`Copy the ${kind} as JSON`} />}
      <Button kind="ghost" small onClick={onClose}>
        Close
      </Button>
    </div>
  );
}

function Line({ name, value }: { name: string; value: unknown }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{typeof value === 'string' ? value : <code>{JSON.stringify(value)}</code>}</dd>
    </div>
  );
}
