//! Where vertices lie: forces move them until they rest, and then nothing moves.

import { useEffect, useRef } from 'preact/hooks';
import type { Simulation } from 'd3-force';

import type { Graph, Link, Node } from './graph';

/** The share of its heat that the layout loses with each step: it rests after about 110. */
const COOLING = 0.06;
/** While a vertex is dragged, its neighbours follow. */
const WARM = 0.25;

export interface Layout {
  /** A vertex is dragged: others give way. */
  hold(): void;
  release(): void;
  /** Lays everything out anew. */
  again(): void;
}

const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Lays a graph out; `place` is called whenever something moved. */
export function useLayout(graph: Graph, place: () => void): Layout {
  const simulation = useRef<Simulation<Node, Link> | null>(null);
  const frame = useRef(0);
  const latest = useRef(place);
  latest.current = place;

  const go = () => {
    const moved = simulation.current;
    if (!moved) return;
    if (isStill()) {
      // Without motion: the layout at rest is the first that is seen.
      moved.tick(Math.ceil(Math.log(moved.alphaMin()) / Math.log(1 - COOLING)));
      latest.current();
      return;
    }
    cancelAnimationFrame(frame.current);
    const step = () => {
      moved.tick();
      latest.current();
      if (moved.alpha() > moved.alphaMin()) frame.current = requestAnimationFrame(step);
    };
    frame.current = requestAnimationFrame(step);
  };

  useEffect(() => {
    let isGone = false;
    void import('d3-force').then((d3) => {
      if (isGone) return;
      const isFirst = simulation.current === null;
      const made = (simulation.current ??= d3
        .forceSimulation<Node, Link>()
        .stop()
        .alphaDecay(COOLING)
        .force('repulsion', d3.forceManyBody().strength(-320).distanceMax(420))
        .force('x', d3.forceX(0).strength(0.05))
        .force('y', d3.forceY(0).strength(0.07))
        .force('room', d3.forceCollide(30)));
      const nodes = [...graph.nodes.values()];
      const isAtRest = isFirst && nodes.every((node) => node.vx !== undefined);
      made.nodes(nodes);
      made.force('links', d3.forceLink<Node, Link>([...graph.links.values()]).distance(105).strength(0.5));
      made.alpha(isFirst ? 1 : 0.7);
      // Whoever comes back finds it as it was.
      if (isAtRest) made.alpha(0);
      else go();
    });
    return () => {
      isGone = true;
      cancelAnimationFrame(frame.current);
    };
  }, [graph]);

  return {
    hold() {
      if (isStill() || !simulation.current) return;
      simulation.current.alphaTarget(WARM).alpha(Math.max(WARM, simulation.current.alpha()));
      go();
    },
    release() {
      simulation.current?.alphaTarget(0);
    },
    again() {
      for (const node of graph.nodes.values()) node.fx = node.fy = null;
      simulation.current?.alphaTarget(0).alpha(1);
      go();
    },
  };
}
