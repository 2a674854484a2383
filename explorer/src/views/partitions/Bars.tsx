//! The physical partitions as bars, beside the ring.

import type { ContainerPartitions, Node, Partition } from '../../api/partitions';
import { bytes, count, counted, ru } from '../../ui';
import { shortBound } from './arcs';
import { isOpened, level, nodeText, stored, totals } from './figures';

interface BarsProps {
  container: ContainerPartitions;
  selected: string | null;
  /** None where one server serves the account alone. */
  nodes: Node[];
  onSelect(id: string): void;
}

export function Bars({ container, selected, nodes, onSelect }: BarsProps) {
  const { largest } = totals(container);
  return (
    <div class="bars" role="region" aria-label="Partitions as bars" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Partition</th>
            <th scope="col" class="wide">
              RU/s of share
            </th>
            <th scope="col" class="number peak" title="The busiest second of the last minute, in percent of the share">
              Peak
            </th>
            <th scope="col" class="number" title="Requests refused with 429 in the last minute">
              Refused
            </th>
            <th scope="col" class="wide">
              Stored
            </th>
          </tr>
        </thead>
        <tbody>
          {container.partitions.map((partition) => (
            <Row
              key={partition.id}
              partition={partition}
              largest={largest}
              isSelected={partition.id === selected}
              nodes={nodes}
              onSelect={() => onSelect(partition.id)}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  partition: Partition;
  largest: number;
  isSelected: boolean;
  nodes: Node[];
  onSelect(): void;
}

function Row({ partition, largest, isSelected, nodes, onSelect }: RowProps) {
  const size = stored(partition);
  const refused = partition.refusedLastMinute ?? 0;
  return (
    <tr class={isSelected ? `${level(partition)} selected` : level(partition)} onClick={onSelect}>
      <th scope="row">
        <button type="button" class="bars-name" aria-pressed={isSelected} onClick={onSelect}>
          <span>{partition.id}</span>
          <span class="bars-from">from {shortBound(partition.minInclusive)}</span>
          {nodes.length > 0 && <span class="bars-from">at {nodeText(nodes, partition.node)}</span>}
        </button>
      </th>
      {isOpened(partition) ? (
        <>
          <td class="wide">
            <Bar part={(partition.usedRuLastSecond ?? 0) / (partition.provisionedRu || 1)} kind="used" />
            <span class="bars-text">
              {ru(partition.usedRuLastSecond ?? 0)} <span class="of">of {count(partition.provisionedRu ?? 0)}</span>
            </span>
          </td>
          <td class="number peak">{Math.round(partition.normalizedPercent ?? 0)} %</td>
          <td class={refused > 0 ? 'number alarm' : 'number'}>{count(refused)}</td>
          <td class="wide">
            <Bar part={largest > 0 ? (size ?? 0) / largest : 0} kind="stored" />
            <span class="bars-text">
              {bytes(size ?? 0)} <span class="of items">· {counted(partition.items ?? 0, 'item')}</span>
            </span>
          </td>
        </>
      ) : (
        <td colSpan={4} class="of">
          not opened since the start: no figures yet
        </td>
      )}
    </tr>
  );
}

function Bar({ part, kind }: { part: number; kind: 'used' | 'stored' }) {
  return (
    <span class={`bar ${kind}`} aria-hidden="true">
      <span style={{ width: `${Math.min(100, part * 100)}%` }} />
    </span>
  );
}
