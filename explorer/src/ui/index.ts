//! What views are made of.

export { Button, type ButtonProps } from './Button';
export { Checkbox, Choice, Field, Input, Select, TextArea } from './Field';
export { CopyButton } from './CopyButton';
export { Dialog } from './Dialog';
export { Empty } from './Empty';
export { Figure } from './Figure';
export { Menu, type MenuItem } from './Menu';
export { Problem } from './Problem';
export { Spinner } from './Spinner';
export { Split } from './Split';
export { Table, type Column } from './Table';
export { Tabs } from './Tabs';
export { confirm } from './confirm';
export { toast } from './toast';
export { ago, bytes, count, counted, duration, ru } from './format';
