//! The drawing, what belongs to it, and what is chosen in it.

import { useMemo, useRef, useState } from 'preact/hooks';

import { Button, counted, Select, Spinner, Split } from '../../ui';
import { useNarrow } from '../../ui/useNarrow';
import { Drawing, type DrawingHandle } from './Drawing';
import { LINKS_MAX, NODES_MAX, type Graph } from './graph';
import { Inspector } from './Inspector';
import type { Runner } from './runner';

/** What is looked at more closely. */
export type Chosen = { kind: 'vertex' | 'edge'; id: string } | null;

const CAPTIONS_MAX = 40;

export function GraphPane({ runner }: { runner: Runner }) {
  const { graph, expanding, isRunning, isUnconnected, note } = runner.state.value;
  const [chosen, setChosen] = useState<Chosen>(null);
  const [caption, setCaption] = useState('');
  const drawing = useRef<DrawingHandle>(null);
  const isNarrow = useNarrow(760);
  const labels = useMemo(() => labelsOf(graph), [graph]);
  const captions = useMemo(() => captionsOf(graph), [graph]);
  const isThere = chosen !== null && (chosen.kind === 'vertex' ? graph.nodes.has(chosen.id) : graph.links.has(chosen.id));
  const expand = (id: string) => {
    const node = graph.nodes.get(id);
    if (node) void runner.expand(node);
  };
  const cut = [
    graph.nodesLeft > 0 ? `${counted(graph.nodesLeft, 'vertex', 'vertices')} beyond ${NODES_MAX}` : '',
    graph.linksLeft > 0 ? `${counted(graph.linksLeft, 'edge')} without room${graph.links.size >= LINKS_MAX ? ` beyond ${LINKS_MAX}` : ''}` : '',
  ].filter(Boolean);
  return (
    <Split
      label="Graph and what is chosen"
      name={isNarrow ? 'gremlin-down' : 'gremlin-chosen'}
      down={isNarrow}
      initial={isNarrow ? 0.6 : 0.7}
      only={isThere ? null : 'first'}
      first={
        <div class="graph">
          <div class="graph-bar">
            <ul class="graph-legend" aria-label="Labels of vertices">
              {labels.map(({ label, number, colour }) => (
                <li key={label}>
                  <span class={`graph-dot graph-${colour}`} aria-hidden="true" />
                  <span class="ellipsis">{label}</span> <span class="dim">{number}</span>
                </li>
              ))}
              <li class="dim">{counted(graph.links.size, 'edge')}</li>
            </ul>
            {expanding !== null && <Spinner label="Reading neighbours" />}
            <div class="row graph-tools">
              <Select aria-label="What stands below vertices" value={caption} options={captions} onChange={setCaption} />
              <Button small kind="ghost" aria-label="Larger" title="Larger" onClick={() => drawing.current?.zoom(1.3)}>
                +
              </Button>
              <Button small kind="ghost" aria-label="Smaller" title="Smaller" onClick={() => drawing.current?.zoom(1 / 1.3)}>
                −
              </Button>
              <Button small kind="ghost" title="Shows the whole graph" onClick={() => drawing.current?.fit()}>
                Fit
              </Button>
              <Button small kind="ghost" title="Forgets where vertices were put" onClick={() => drawing.current?.again()}>
                Lay out
              </Button>
            </div>
          </div>
          {(cut.length > 0 || note || isUnconnected) && (
            <div class="graph-note row wrap" role="status">
              {cut.length > 0 && <span>Not drawn: {cut.join(', ')}. The list has all results.</span>}
              {isUnconnected && (
                <>
                  <span>The edges between so many vertices were not asked for.</span>
                  <Button small busy={isRunning} onClick={() => void runner.connect()}>
                    Ask for them
                  </Button>
                </>
              )}
              {note && <span>{note}</span>}
            </div>
          )}
          <Drawing
            graph={graph}
            caption={caption}
            colours={new Map(labels.map((one) => [one.label, one.colour]))}
            chosen={chosen}
            onChoose={setChosen}
            onExpand={expand}
            handle={drawing}
          />
          <p class="graph-help dim small">
            Drag to move, wheel to zoom. Double-click or Enter shows neighbours; the arrow keys go from vertex to vertex, with Shift
            they move it.
          </p>
        </div>
      }
      second={
        isThere && chosen ? (
          <Inspector
            graph={graph}
            chosen={chosen}
            isExpanding={expanding !== null}
            onChoose={setChosen}
            onExpand={expand}
            onClose={() => setChosen(null)}
          />
        ) : null
      }
    />
  );
}

/** Colours of vertices: as many as series have; further labels share the last. */
const COLOURS = 8;

function labelsOf(graph: Graph): { label: string; number: number; colour: number }[] {
  const numbers = new Map<string, number>();
  for (const { label } of graph.nodes.values()) numbers.set(label, (numbers.get(label) ?? 0) + 1);
  return [...numbers].map(([label, number], at) => ({ label, number, colour: Math.min(at + 1, COLOURS) }));
}

function captionsOf(graph: Graph): [string, string][] {
  const names = new Set<string>();
  for (const { vertex } of graph.nodes.values()) for (const name of Object.keys(vertex?.properties ?? {})) names.add(name);
  const others = [...names].filter((name) => name !== 'id' && name !== 'label').slice(0, CAPTIONS_MAX);
  return [['', 'Name or id'], ['id', 'id'], ['label', 'label'], ...others.map((name): [string, string] => [name, name])];
}
