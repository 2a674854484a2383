import type { EdmType, Entity, Property } from '../../api/table';
import type { Column } from '../../ui';
import '../query/query.css';

const COLUMNS_MAX = 60;
/** Entities that columns and widths are found from. */
const SAMPLE = 200;
/** Cells are one line: what is longer is cut, the whole is in the chosen entity. */
const CELL_MAX = 300;

const NUMBERS: readonly EdmType[] = ['Int32', 'Int64', 'Double'];

/** Returns the columns of a table: the keys, every property with its type, and when an entity was written. */
export function columnsOf(entities: readonly Entity[]): Column<Entity>[] {
  const sample = entities.slice(0, SAMPLE);
  const names = [...new Set(sample.flatMap((one) => one.properties.map(({ name }) => name)))].slice(0, COLUMNS_MAX);
  return [
    key('PartitionKey', sample, (one) => one.partitionKey),
    key('RowKey', sample, (one) => one.rowKey),
    ...names.map((name) => column(name, sample)),
    key('Timestamp', sample, (one) => one.timestamp, 'DateTime'),
  ];
}

const width = (title: string, texts: readonly string[]) =>
  `${Math.max(72, Math.round(Math.max(title.length, ...texts.map((one) => Math.min(44, one.length))) * 7.3) + 20)}px`;

function key(title: string, sample: readonly Entity[], text: (entity: Entity) => string, type: EdmType = 'String'): Column<Entity> {
  return {
    key: ` ${title}`,
    title: type === 'String' ? title : `${title} · ${type}`,
    width: width(type === 'String' ? title : `${title} · ${type}`, sample.map(text)),
    render: (one) => <Cell type={type} text={text(one)} />,
  };
}

function column(name: string, sample: readonly Entity[]): Column<Entity> {
  const find = (entity: Entity): Property | undefined => entity.properties.find((one) => one.name === name);
  const values = sample.flatMap((one) => find(one) ?? []);
  const types = [...new Set(values.map((one) => one.type))];
  const title = `${name} · ${types.join(', ')}`;
  return {
    key: name,
    title,
    width: width(title, values.map((one) => one.text)),
    align: types.every((one) => NUMBERS.includes(one)) ? 'right' : 'left',
    render: (entity) => {
      const value = find(entity);
      return value && <Cell type={value.type} text={value.text} />;
    },
  };
}

function Cell({ type, text }: { type: EdmType; text: string }) {
  const kind = NUMBERS.includes(type) ? 'number' : type === 'Boolean' ? 'boolean' : type === 'String' ? 'string' : 'object';
  return <span class={`query-cell ${kind}`}>{text.length > CELL_MAX ? `${text.slice(0, CELL_MAX)}…` : text}</span>;
}
