//! The lines of the charts, made of the history that the server keeps.

import type { ContainerPartitions, Steps } from '../../api/partitions';
import type { Series } from '../../chart/Chart';
import { provisioned } from '../partitions/figures';

export type Grouping = 'whole' | 'partitions';

/** As many lines as there are colours; what is beyond is one line together. */
const LINES_MAX = 8;

export interface Lines {
  xs: number[];
  used: Series[];
  refused: Series[];
}

type Values = Steps['partitions'][number];

export function lines(steps: Steps, container: ContainerPartitions | null, grouping: Grouping): Lines {
  const length = Math.max(0, ...steps.partitions.map((one) => one.used.length));
  const xs = Array.from({ length }, (_, index) => steps.end - (length - index) * steps.step);
  const groups = grouping === 'whole' ? [{ label: 'Container', members: steps.partitions }] : byPartition(steps.partitions);
  const sum = (members: Values[], of: (one: Values) => number[], part: number) =>
    xs.map((_, index) => members.reduce((all, one) => all + (of(one)[index] ?? 0), 0) / part);

  const isAlone = groups.length === 1;
  const lineOf = (index: number, label: string, values: number[], first: string): Series => ({
    label,
    values,
    colour: isAlone ? first : `--series-${(index % LINES_MAX) + 1}`,
    isFilled: isAlone,
  });
  const used = groups.map(({ label, members }, index) =>
    lineOf(index, label, sum(members, (one) => one.used, steps.step), '--series-1'),
  );
  const refused = groups.map(({ label, members }, index) =>
    lineOf(index, label, sum(members, (one) => one.refused, 1), '--danger'),
  );
  const bound = boundOf(container, grouping);
  if (bound !== null) {
    const label = grouping === 'whole' ? 'Provisioned' : 'Share of each';
    used.push({ label, values: xs.map(() => bound), colour: '--text-3', isDashed: true });
  }
  return { xs, used, refused };
}

/** Returns what is provisioned: for all, or for each partition. */
function boundOf(container: ContainerPartitions | null, grouping: Grouping): number | null {
  if (container === null) return null;
  return grouping === 'whole' ? provisioned(container) : (container.partitions[0]?.provisionedRu ?? null);
}

function byPartition(partitions: Values[]): { label: string; members: Values[] }[] {
  const label = (one: Values) => `Partition ${one.id}`;
  if (partitions.length <= LINES_MAX) return partitions.map((one) => ({ label: label(one), members: [one] }));
  const total = (one: Values) => one.used.reduce((all, value) => all + value, 0);
  const busiest = [...partitions].sort((a, b) => total(b) - total(a));
  const shown = busiest.slice(0, LINES_MAX - 1).map((one) => ({ label: label(one), members: [one] }));
  const others = busiest.slice(LINES_MAX - 1);
  return [...shown, { label: `${others.length} others`, members: others }];
}
