declare module 'virtual:learner' {
  const packed: string;
  export default packed;
}
