//! The ring of hashed keys, cut into the arcs of the physical partitions.
//!
//! Each arc has two bands: what the partition used of its share in the last second grows outwards, what it stores, against
//! the largest, grows inwards. A rim outside says that requests were refused in the last minute.

import { useRef } from 'preact/hooks';

import type { ContainerPartitions, Partition } from '../../api/partitions';
import { bytes, count, counted, ru } from '../../ui';
import { arc, shortBound } from './arcs';
import { isOpened, level, provisioned, stored, totals, usedPart } from './figures';
import { pointAt, sector } from './geometry';
import { useWidth } from './useWidth';
import './ring.css';

/** Radii, as parts of the outermost one. */
const USE = { inner: 0.7, outer: 1 };
const STORE = { inner: 0.51, outer: 0.67 };
const RIM = { inner: 1.02, outer: 1.05 };
/** What is left free between arcs, in parts of the ring. */
const GAP = 0.004;

/** Pixels beside the ring that figures, or only names, take. */
const FIGURES_WIDTH = 142;
const NAME_WIDTH = 44;
const RADIUS = { least: 100, most: 176 };
const LINE = 15;
/** Parts of the ring from which on an arc has room for its name, and for its figures. */
const ROOM = { name: 0.024, figures: 0.08 };
/** Up to so many arcs the hashes at which they begin are written beside the cuts. */
const BOUNDS_MAX = 12;

interface RingProps {
  container: ContainerPartitions;
  selected: string | null;
  onSelect(id: string): void;
}

export function Ring({ container, selected, onSelect }: RingProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const all = totals(container);
  const whole = provisioned(container);
  const { partitions } = container;
  // A pixel of the picture is a pixel of the page, so that texts have their size however narrow it is.
  const labels = width / 2 - FIGURES_WIDTH >= RADIUS.least ? 'figures' : 'name';
  const beside = labels === 'figures' ? FIGURES_WIDTH : NAME_WIDTH;
  const radius = Math.max(80, Math.min(RADIUS.most, width / 2 - beside));
  const height = 2 * radius + (labels === 'figures' ? 92 : 64);

  // One arc takes the tab stop; the arrow keys go round.
  const stop = partitions.some((partition) => partition.id === selected) ? selected : partitions[0]?.id;
  const go = (event: KeyboardEvent, index: number) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const isChosen = event.key === 'Enter' || event.key === ' ';
    if (step === undefined && !isChosen) return;
    event.preventDefault();
    const next = partitions[(index + (step ?? 0) + partitions.length) % partitions.length];
    if (!next) return;
    onSelect(next.id);
    box.current?.querySelector<SVGElement>(`[data-partition="${next.id}"]`)?.focus();
  };

  return (
    <div ref={box} class="ring-box">
      <svg
        class="ring"
        viewBox={`${-width / 2} ${-height / 2} ${width} ${height}`}
        style={{ height: `${height}px` }}
        role="group"
        aria-label={`The ring of hashed keys in ${partitions.length === 1 ? 'one arc' : `${partitions.length} arcs`}`}
      >
        {partitions.map((partition, index) => (
          <ArcOf
            key={partition.id}
            partition={partition}
            largest={all.largest}
            isSelected={partition.id === selected}
            isStop={partition.id === stop}
            radius={radius}
            labels={labels}
            onSelect={() => onSelect(partition.id)}
            onKey={(event) => go(event, index)}
          />
        ))}
        {partitions.length > 1 &&
          partitions.length <= BOUNDS_MAX &&
          partitions.map((one) => <Bound key={one.id} partition={one} radius={radius} />)}
        <g class="ring-middle" aria-hidden="true">
          <text class="ring-total" y="-2">
            {all.used >= 100 ? count(all.used) : ru(all.used)}
          </text>
          <text y="16">{whole === null ? 'RU/s' : `of ${count(whole)} RU/s`}</text>
          <text y="34">{counted(all.items, 'item')}</text>
        </g>
      </svg>
    </div>
  );
}

interface ArcProps {
  partition: Partition;
  largest: number;
  isSelected: boolean;
  isStop: boolean;
  radius: number;
  labels: 'figures' | 'name';
  onSelect(): void;
  onKey(event: KeyboardEvent): void;
}

function ArcOf({ partition, largest, isSelected, isStop, radius, labels, onSelect, onKey }: ArcProps) {
  const { from, to } = arc(partition);
  const used = Math.min(1, usedPart(partition));
  const share = largest > 0 ? (stored(partition) ?? 0) / largest : 0;
  const piece = (inner: number, outer: number) => sector(inner * radius, outer * radius, from, to, GAP);
  const isRefusing = (partition.refusedLastMinute ?? 0) > 0;
  return (
    <g
      class={`ring-arc ${level(partition)}${isSelected ? ' selected' : ''}${partition.status === 'splitting' ? ' splitting' : ''}`}
      role="button"
      tabindex={isStop ? 0 : -1}
      aria-pressed={isSelected}
      aria-label={spoken(partition)}
      data-partition={partition.id}
      onClick={onSelect}
      onKeyDown={onKey}
    >
      <title>{spoken(partition)}</title>
      <path class="ring-track" fill-rule="evenodd" d={piece(USE.inner, USE.outer)} />
      <path class="ring-track" fill-rule="evenodd" d={piece(STORE.inner, STORE.outer)} />
      {used > 0 && (
        <path class="ring-used" fill-rule="evenodd" d={piece(USE.inner, USE.inner + (USE.outer - USE.inner) * visible(used))} />
      )}
      {share > 0 && (
        <path class="ring-stored" fill-rule="evenodd" d={piece(STORE.outer - (STORE.outer - STORE.inner) * visible(share), STORE.outer)} />
      )}
      {isRefusing && <path class="ring-rim" fill-rule="evenodd" d={piece(RIM.inner, RIM.outer)} />}
      <path class="ring-outline" fill-rule="evenodd" d={piece(STORE.inner, USE.outer)} />
      <Label partition={partition} middle={(from + to) / 2} width={to - from} radius={radius} labels={labels} />
    </g>
  );
}

/** Little is something, too: it is drawn as thick as it takes to be seen. */
function visible(part: number): number {
  return Math.max(0.04, part);
}

interface LabelProps {
  partition: Partition;
  middle: number;
  width: number;
  radius: number;
  labels: 'figures' | 'name';
}

function Label({ partition, middle, width, radius, labels }: LabelProps) {
  if (width < ROOM.name) return null;
  // A single arc is labelled at the right, where there is most room.
  const at = pointAt(radius + 18, width >= 1 ? 0.25 : middle);
  const anchor = at.x > 12 ? 'start' : at.x < -12 ? 'end' : 'middle';
  const lines = labels === 'figures' && width >= ROOM.figures && isOpened(partition) ? figures(partition) : [];
  // Above the ring a label ends where it would touch it, below it begins there, and at the sides it stands in the middle.
  const first = at.y + 4 - (lines.length * LINE * (1 - at.y / (radius + 18))) / 2;
  return (
    <text class="ring-label" text-anchor={anchor} aria-hidden="true">
      <tspan class="ring-name" x={at.x} y={first}>
        {partition.id}
      </tspan>
      {lines.map((line) => (
        <tspan key={line.text} class={line.isAlarm ? 'ring-figure alarm' : 'ring-figure'} x={at.x} dy={LINE}>
          {line.text}
        </tspan>
      ))}
    </text>
  );
}

function figures(partition: Partition): { text: string; isAlarm?: boolean }[] {
  const refused = partition.refusedLastMinute ?? 0;
  return [
    { text: `${ru(partition.usedRuLastSecond ?? 0)} of ${count(partition.provisionedRu ?? 0)} RU/s` },
    { text: `${bytes(stored(partition) ?? 0)} · ${counted(partition.items ?? 0, 'item')}` },
    ...(refused > 0 ? [{ text: `${count(refused)} refused`, isAlarm: true }] : []),
  ];
}

/** The hash at which an arc begins, beside the cut. */
function Bound({ partition, radius }: { partition: Partition; radius: number }) {
  const { from } = arc(partition);
  const [inner, outer, at] = [pointAt(radius + 2, from), pointAt(radius + 8, from), pointAt(radius + 12, from)];
  const anchor = at.x > 12 ? 'start' : at.x < -12 ? 'end' : 'middle';
  return (
    <g class="ring-bound" aria-hidden="true">
      <line x1={inner.x} y1={inner.y} x2={outer.x} y2={outer.y} />
      <text x={at.x} y={at.y + (anchor === 'middle' ? (at.y > 0 ? 8 : 0) : 3)} text-anchor={anchor}>
        {shortBound(partition.minInclusive).replace('…', '')}
      </text>
    </g>
  );
}

function spoken(partition: Partition): string {
  const name = `Partition ${partition.id}, from ${shortBound(partition.minInclusive)} to ${shortBound(partition.maxExclusive)}`;
  if (!isOpened(partition)) return `${name}: not opened since the start`;
  const refused = partition.refusedLastMinute ?? 0;
  return [
    `${name}: ${ru(partition.usedRuLastSecond ?? 0)} of ${ru(partition.provisionedRu ?? 0)} RU/s used`,
    `${count(refused)} refused in the last minute`,
    `${count(partition.items ?? 0)} items`,
    `${bytes(stored(partition) ?? 0)} stored`,
  ].join(', ');
}
