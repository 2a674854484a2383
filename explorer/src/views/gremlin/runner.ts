//! One script at a time: its results, the graph that grows out of them, and what all that cost.

import { signal, type Signal } from '@preact/signals';

import { runScript, type Outcome, type Vertex } from '../../api/gremlin';
import { elementsOf } from './elements';
import { EMPTY, grown, LINKS_MAX, type Graph, type Node } from './graph';

/** With more vertices, the edges between them are read when the reader asks for them: each vertex costs one more read. */
const CONNECTED_MAX = 60;

/** How many edges of a vertex one step shows. */
export const NEIGHBOURS_MAX = 25;

export interface RunState {
  isRunning: boolean;
  outcome: Outcome | null;
  error: unknown;
  graph: Graph;
  /** What the edges between the vertices and the neighbours cost, which the script did not ask for. */
  more: number;
  /** The vertex whose neighbours are being read. */
  expanding: string | null;
  /** There are so many vertices that the edges between them were not asked for. */
  isUnconnected: boolean;
  /** What is worth saying about the last step. */
  note: string | null;
}

const NOTHING: RunState = {
  isRunning: false, outcome: null, error: null, graph: EMPTY, more: 0, expanding: null, isUnconnected: false, note: null,
};

export interface Runner {
  state: Signal<RunState>;
  /** Resolves to what came of it; null if it failed. */
  run(script: string, withEdges: boolean): Promise<Outcome | null>;
  /** Adds the edges between the vertices. */
  connect(): Promise<void>;
  /** Adds the neighbours of a vertex. */
  expand(node: Node): Promise<void>;
  cancel(): void;
}

/** `key` is the property that vertices are partitioned by, as soon as it is known. */
export function runnerOf(database: string, container: string, key: () => string | null): Runner {
  const name = { database, container };
  const state = signal<RunState>(NOTHING);
  let abort = new AbortController();
  const set = (change: Partial<RunState>) => {
    state.value = { ...state.value, ...change };
  };

  /** With its partition a vertex is read at once; without it, it is looked for in all of them. */
  const address = (id: string, vertex: Vertex | null): unknown => {
    const partition = vertex?.properties?.[key() ?? '']?.[0]?.value;
    return typeof partition === 'string' ? [partition, id] : id;
  };

  /** Adds the edges between vertices that were found without them. */
  const connected = async (graph: Graph, max: number, signal: AbortSignal): Promise<Partial<RunState>> => {
    const known = [...graph.nodes.values()].filter((node) => node.vertex);
    if (known.length < 2 || graph.links.size > 0) return {};
    if (known.length > max) return { isUnconnected: true };
    const vertices = known.map((node) => address(node.id, node.vertex));
    const ids = known.map((node) => node.id);
    const script = `g.V(vertices).outE().where(inV().hasId(within(ids))).limit(${LINKS_MAX + 1})`;
    const { results, charge } = await runScript(name, script, { vertices, ids }, signal);
    return { graph: grown(graph, elementsOf(results)), more: state.value.more + (charge ?? 0), isUnconnected: false };
  };

  return {
    state,
    async run(script, withEdges) {
      abort.abort();
      abort = new AbortController();
      const mine = abort.signal;
      state.value = { ...NOTHING, isRunning: true };
      let outcome: Outcome | null = null;
      try {
        outcome = await runScript(name, script, {}, mine);
        if (mine.aborted) return null;
        const graph = grown(EMPTY, elementsOf(outcome.results));
        set({ outcome, graph });
        const change = withEdges ? await connected(graph, CONNECTED_MAX, mine) : {};
        if (!mine.aborted) set({ ...change, isRunning: false });
      } catch (error) {
        if (!mine.aborted) set({ error, isRunning: false });
      }
      return outcome;
    },
    async connect() {
      const mine = abort.signal;
      set({ isRunning: true, error: null });
      try {
        const change = await connected(state.value.graph, Infinity, mine);
        if (!mine.aborted) set({ ...change, isRunning: false });
      } catch (error) {
        if (!mine.aborted) set({ error, isRunning: false });
      }
    },
    async expand(node) {
      if (state.value.expanding !== null || state.value.isRunning) return;
      const mine = abort.signal;
      set({ expanding: node.id, note: null, error: null });
      try {
        let cost = 0;
        const add = async (script: string) => {
          const vertex = address(node.id, state.value.graph.nodes.get(node.id)?.vertex ?? null);
          const { results, charge } = await runScript(name, script, { vertex }, mine);
          cost += charge ?? 0;
          if (!mine.aborted) set({ graph: grown(state.value.graph, elementsOf(results), node) });
          return results;
        };
        if (!node.vertex && (await add('g.V(vertex)')).length === 0) {
          set({ note: `There is no vertex ${node.id}: its edges lead nowhere.` });
        }
        const found = await add(`g.V(vertex).bothE().limit(${NEIGHBOURS_MAX + 1}).as('e').otherV().as('v').select('e', 'v')`);
        if (mine.aborted) return;
        set({ expanding: null, more: state.value.more + cost });
        if (found.length > NEIGHBOURS_MAX) set({ note: `It has more than ${NEIGHBOURS_MAX} edges: not all of them are shown.` });
      } catch (error) {
        if (!mine.aborted) set({ error, expanding: null });
      }
    },
    cancel() {
      abort.abort();
      set({ isRunning: false, expanding: null });
    },
  };
}
