//! Vertices and edges as SVG: moved, chosen and expanded by pointer and by keys.

import type { RefObject } from 'preact';
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { captionOf } from './elements';
import { labelPlaces, lineOf, RADIUS, round, type Graph, type Link, type Node } from './graph';
import type { Chosen } from './GraphPane';
import { useLayout } from './layout';
import { useCamera } from './camera';

export interface DrawingHandle {
  zoom(by: number): void;
  fit(): void;
  again(): void;
}

export interface DrawingProps {
  graph: Graph;
  /** The property below vertices; '' for what seems to be a name. */
  caption: string;
  /** Of labels. */
  colours: ReadonlyMap<string, number>;
  chosen: Chosen;
  onChoose(chosen: Chosen): void;
  onExpand(id: string): void;
  handle: RefObject<DrawingHandle | null>;
}

/** Texts below vertices are cut after this. */
const CAPTION_MAX = 26;
/** A pointer that moved less than this has clicked. */
const CLICK_PIXELS = 4;
/** With more edges their labels hide the graph; each shows when its edge is chosen. */
const LABELS_MAX = 60;
/** How far a key moves a vertex. */
const STEP = 16;

const short = (text: string) => (text.length > CAPTION_MAX ? `${text.slice(0, CAPTION_MAX)}…` : text);
const moveOf = (node: Node) => `translate(${round(node.x)},${round(node.y)})`;

export function Drawing({ graph, caption, colours, chosen, onChoose, onExpand, handle }: DrawingProps) {
  const svg = useRef<SVGSVGElement>(null);
  const nodes = useRef(new Map<string, SVGGElement>());
  const links = useRef(new Map<string, SVGGElement>());
  const camera = useCamera(svg, () => graph.nodes.values());
  const [active, setActive] = useState<string | null>(null);

  /** Puts everything where the layout has it, without a render: this is done many times a second. */
  const place = () => {
    for (const [id, element] of nodes.current) {
      const node = graph.nodes.get(id);
      if (node) element.setAttribute('transform', moveOf(node));
    }
    const labels = labelsOf(graph);
    for (const [id, element] of links.current) {
      const link = graph.links.get(id);
      if (link) placeLink(element, link, labels.get(id));
    }
    camera.follow();
  };
  const layout = useLayout(graph, place);
  useLayoutEffect(place, [graph]);
  useImperativeHandle(handle, () => ({
    zoom: camera.zoom,
    fit: camera.fit,
    again() {
      camera.fit();
      layout.again();
    },
  }));
  useEffect(() => {
    if (chosen?.kind === 'vertex') setActive(chosen.id);
  }, [chosen]);

  const drag = (event: PointerEvent, node: Node) => {
    if (event.button !== 0) return;
    const element = event.currentTarget as SVGGElement;
    const begun = { x: event.clientX, y: event.clientY, nodeX: node.x, nodeY: node.y };
    let isMoved = false;
    event.stopPropagation();
    // What was clicked stays under the pointer, though a pane may open beside it.
    camera.keep();
    element.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent) => {
      const [dx, dy] = [moved.clientX - begun.x, moved.clientY - begun.y];
      if (!isMoved && Math.hypot(dx, dy) < CLICK_PIXELS) return;
      if (!isMoved) layout.hold();
      isMoved = true;
      put(node, begun.nodeX + dx / camera.scale(), begun.nodeY + dy / camera.scale());
      place();
    };
    const end = () => {
      element.removeEventListener('pointermove', move);
      element.removeEventListener('pointerup', end);
      element.removeEventListener('pointercancel', end);
      layout.release();
    };
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', end);
    element.addEventListener('pointercancel', end);
  };

  const keys = (event: KeyboardEvent, node: Node) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === 'Enter') onExpand(node.id);
    else if (event.key === '+' || event.key === '=') camera.zoom(1.3);
    else if (event.key === '-') camera.zoom(1 / 1.3);
    else if (way && event.shiftKey) {
      camera.keep();
      put(node, node.x + (way[0] ?? 0) * STEP, node.y + (way[1] ?? 0) * STEP);
      place();
    } else if (way) {
      const next = nearest(graph, node, way[0] ?? 0, way[1] ?? 0);
      if (next) nodes.current.get(next.id)?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const all = [...graph.nodes.values()];
  // One of all takes part in the order of focus; the arrow keys go on from there.
  const first = active !== null && graph.nodes.has(active) ? active : all[0]?.id;
  const isNear = (link: Link) =>
    chosen !== null && (chosen.kind === 'edge' ? chosen.id === link.id : chosen.id === link.source.id || chosen.id === link.target.id);
  const hasLabels = graph.links.size <= LABELS_MAX;
  const labels = labelsOf(graph);
  return (
    <svg ref={svg} class="graph-drawing" role="group" aria-label={`Graph of ${all.length} vertices and ${graph.links.size} edges`} onPointerDown={camera.pan}>
      <defs>
        <marker id="graph-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
          <path class="graph-tip" d="M0,0.5L8,4L0,7.5z" />
        </marker>
      </defs>
      <g ref={camera.view}>
        {[...graph.links.values()].map((link) => {
          const line = lineOf(link);
          const label = labels.get(link.id) ?? line.at(0.5);
          return (
            <g
              key={link.id}
              ref={(element) => void (element ? links.current.set(link.id, element) : links.current.delete(link.id))}
              class={chosen?.kind === 'edge' && chosen.id === link.id ? 'graph-link chosen' : isNear(link) ? 'graph-link near' : 'graph-link'}
              onClick={() => onChoose({ kind: 'edge', id: link.id })}
            >
              <path class="graph-reach" d={line.path} />
              <path class="graph-line" d={line.path} marker-end="url(#graph-tip)" />
              {(hasLabels || isNear(link)) && (
                <text x={label.x} y={label.y} dy="-3">
                  {short(link.edge.label)}
                </text>
              )}
            </g>
          );
        })}
        {all.map((node) => {
          const text = node.vertex ? captionOf(node.vertex, caption) : node.id;
          const isChosen = chosen?.kind === 'vertex' && chosen.id === node.id;
          return (
            <g
              key={node.id}
              ref={(element) => void (element ? nodes.current.set(node.id, element) : nodes.current.delete(node.id))}
              class={`graph-node graph-${colours.get(node.label) ?? 1}${isChosen ? ' chosen' : ''}${node.vertex ? '' : ' unread'}`}
              transform={moveOf(node)}
              role="button"
              tabIndex={node.id === first ? 0 : -1}
              aria-pressed={isChosen}
              aria-label={`${node.label} ${text}${node.vertex ? '' : ', not read'}`}
              onPointerDown={(event) => drag(event, node)}
              onClick={(event) => {
                event.currentTarget.focus();
                onChoose({ kind: 'vertex', id: node.id });
              }}
              onDblClick={() => onExpand(node.id)}
              onFocus={() => onChoose({ kind: 'vertex', id: node.id })}
              onKeyDown={(event) => keys(event, node)}
            >
              <circle r={RADIUS} />
              <text y={RADIUS + 14}>
                {short(text)}
              </text>
            </g>
          );
        })}
      </g>
    </svg>
  );
}

/** Where labels stand; with too many of them, each in the middle of its edge. */
function labelsOf(graph: Graph): ReturnType<typeof labelPlaces> {
  return graph.links.size <= LABELS_MAX ? labelPlaces(graph, (link) => short(link.edge.label)) : new Map();
}

function placeLink(element: SVGGElement, link: Link, label: { x: number; y: number } | undefined): void {
  const line = lineOf(link);
  const { x, y } = label ?? line.at(0.5);
  for (const path of element.querySelectorAll('path')) path.setAttribute('d', line.path);
  const text = element.querySelector('text');
  text?.setAttribute('x', String(x));
  text?.setAttribute('y', String(y));
}

/** Puts a vertex somewhere, to stay there. */
function put(node: Node, x: number, y: number): void {
  node.x = node.fx = x;
  node.y = node.fy = y;
}

/** Returns the vertex that is next in a direction: near, and not far aside. */
function nearest(graph: Graph, from: Node, wayX: number, wayY: number): Node | null {
  let best: Node | null = null;
  let least = Infinity;
  for (const node of graph.nodes.values()) {
    const [dx, dy] = [node.x - from.x, node.y - from.y];
    const ahead = dx * wayX + dy * wayY;
    const aside = Math.abs(dx * wayY) + Math.abs(dy * wayX);
    if (node === from || ahead <= 0 || aside > ahead * 2) continue;
    const far = ahead + aside * 2;
    if (far < least) [best, least] = [node, far];
  }
  return best;
}
